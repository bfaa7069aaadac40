//===- OverlapStarts.cpp - start times of communications ------------------===//
//
// Reductions, gathers and copies from the host compete for their queues and for memory.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/OverlapScheduler.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;

/// Most gathers examined to find a late one, and most collectives examined to find one that fits.
static constexpr unsigned kMaxAhead = 64, kMaxReady = 16;
/// Returns the first collective in program order that can start.
std::optional<unsigned> Scheduler::readyCollective() {
  unsigned looked = 0;
  for (unsigned number : ready) {
    if (++looked > kMaxReady)
      break;
    unsigned previous = plan.previousOrdered[number];
    if (previous != OverlapPlan::kNone && states[previous] == State::Waiting)
      continue;
    if (fitsToStart(number))
      return number;
  }
  return std::nullopt;
}

/// Returns whether any gather from `first` on that may start would be late, if the link began with these gathers at
/// `linkFree` but no earlier than `readyBy`.
bool Scheduler::isLate(unsigned queue, unsigned first, double linkFree, double readyBy) {
  double end = std::max(linkFree, readyBy);
  const std::vector<unsigned> &gathers = plan.gathers[queue];
  unsigned ahead = problem.maxAhead(queue);
  for (unsigned index = first; index < gathers.size() && index < first + kMaxAhead; ++index) {
    unsigned gather = gathers[index], unit = action(gather).unit;
    if (index > first && unit > ahead && plan.useOfUnit[queue][unit - ahead] > next)
      return false;
    unsigned use = plan.useOf[gather];
    if (use <= next)
      return true;
    end += problem.contention * action(gather).seconds;
    double deadline = queues.now + plan.before[use] - plan.before[next];
    if (end + problem.slack > deadline)
      return true;
  }
  return false;
}

/// Returns the next gather of a queue if it must start now: before the next action, or before a rival on the same link.
std::optional<unsigned> Scheduler::urgentGather(unsigned queue, std::optional<unsigned> rival) {
  const std::vector<unsigned> &gathers = plan.gathers[queue];
  unsigned &first = nextGather[queue], ahead = problem.maxAhead(queue);
  while (first < gathers.size() && states[gathers[first]] != State::Waiting)
    ++first;
  if (first == gathers.size() || next == plan.main.size())
    return std::nullopt;
  unsigned gather = gathers[first], unit = action(gather).unit;
  double linkFree = std::max(queues.links[queue], queues.now), readyBy = queues.now;
  if (rival && action(*rival).queue == queue)
    linkFree += problem.contention * action(*rival).seconds;
  else
    readyBy += action(plan.main[next]).seconds;
  if (!isLate(queue, first, linkFree, readyBy))
    return std::nullopt;
  HeldBy &heldBy = schedule.heldBy[gather];
  if (unit > ahead && plan.useOfUnit[queue][unit - ahead] > next) {
    heldBy = HeldBy::Prefetch;
    return std::nullopt;
  }
  if (plan.useOf[gather] > next && !fitsToStart(gather)) {
    heldBy = HeldBy::Memory;
    return std::nullopt;
  }
  return gather;
}

void Scheduler::startCollectives() {
  while (true) {
    std::optional<unsigned> reduction = readyCollective();
    std::optional<unsigned> gather = urgentGather(problem.kRanks, reduction);
    if (!gather)
      gather = urgentGather(problem.kFromHost, std::nullopt);
    if (!gather && !reduction)
      break;
    unsigned first = gather ? *gather : *reduction;
    runUntilFits(first);
    start(first);
  }
  serveHost();
}

/// Returns the next fetch for updates whose gradients are being reduced, unless enough fetches wait already.
std::optional<unsigned> Scheduler::fetchForGroup() {
  llvm::erase_if(fetched, [&](unsigned fetch) {
    return llvm::all_of(plan.successors[fetch], [&](unsigned reader) { return hasEnded(reader); });
  });
  if (fetched.size() > problem.fetchAhead)
    return std::nullopt;
  for (unsigned number : armed) {
    if ((!early || late[number]) && next < plan.main.size())
      continue;
    for (unsigned fetch : plan.groups[number].fetches)
      if (states[fetch] == State::Waiting)
        return fitsToStart(fetch) ? std::optional(fetch) : std::nullopt;
  }
  return std::nullopt;
}

/// Starts the write-backs of updated tensors, then further fetches.
void Scheduler::serveHost() {
  if (!plan.hasFetches)
    return;
  for (unsigned number : llvm::to_vector(ready))
    if (action(number).queue == problem.kToHost && fitsToStart(number)) {
      runUntilFits(number);
      start(number);
    }
  while (std::optional<unsigned> fetch = fetchForGroup()) {
    fetched.push_back(*fetch);
    runUntilFits(*fetch);
    start(*fetch);
  }
}
