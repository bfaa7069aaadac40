//===- Messages.cpp - what ranks of a pipeline send each other ------------===//

#include "lib/Pipeline/Messages.h"
#include "lib/Pipeline/Failure.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <deque>

using namespace braid::pipeline;
using llvm::Error;

/// One way between two ranks.
using Way = std::pair<unsigned, unsigned>;
static Way wayOf(const Message &message) { return {message.producer.rank, message.consumer.rank}; }

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

namespace {
/// The messages of a way, in the order of sends, and how many were received.
struct Queue {
  std::vector<unsigned> sent;
  unsigned received = 0;
};
} // namespace

MessagePlan braid::pipeline::planMessages(const Schedule &schedule) {
  MessagePlan plan;
  llvm::DenseMap<Way, Queue> queues;
  for (auto [rank, row] : llvm::enumerate(schedule.getTable().rows)) {
    plan.rows.emplace_back(row.size());
    for (unsigned index = 0; index < row.size(); ++index) {
      std::optional<Place> reader = schedule.readerOf(row[index]);
      if (!reader || reader->rank == rank)
        continue;
      unsigned number = plan.messages.size();
      plan.rows[rank][index].send = number;
      plan.messages.push_back({{static_cast<unsigned>(rank), index}, *reader});
      queues[wayOf(plan.messages.back())].sent.push_back(number);
    }
  }
  for (auto [rank, row] : llvm::enumerate(schedule.getTable().rows))
    for (unsigned index = 0; index < row.size(); ++index)
      for (Place input : schedule.inputsOf(row[index])) {
        if (input.rank == rank)
          continue;
        Queue &queue = queues[{input.rank, static_cast<unsigned>(rank)}];
        unsigned number = *plan.rows[input.rank][input.index].send;
        // What was sent before it comes before it; if it came already, nothing is left to do.
        while (queue.received < queue.sent.size() && queue.sent[queue.received] <= number)
          plan.rows[rank][index].receives.push_back(queue.sent[queue.received++]);
      }
  return plan;
}

//===----------------------------------------------------------------------===//
// Verifying
//===----------------------------------------------------------------------===//

namespace {

/// Carries out a plan: ranks go along their rows, a receive waits until the next message of its
/// way is there, a send does not wait.
class Rehearsal {
public:
  Rehearsal(const Schedule &schedule, const MessagePlan &plan)
      : schedule(schedule), plan(plan), done(schedule.numRanks()), received(plan.messages.size()),
        sent(plan.messages.size()), receives(schedule.numRanks()) {}
  Error run();

private:
  Error advance(unsigned rank, bool &goesOn);
  Error receive(Place place, unsigned number, bool &isThere);
  Error compute(Place place);
  std::string describe(unsigned number) const;
  std::string where(Place place) const {
    const Cell &cell = schedule.at(place);
    return llvm::formatv("rank {0}, step {1}: {2}", place.rank, cell.step, cell.str());
  }

  const Schedule &schedule;
  const MessagePlan &plan;
  /// Cells that are over, of each rank.
  std::vector<unsigned> done;
  /// By message.
  std::vector<bool> received, sent;
  /// Of the next cell of each rank, how many messages it has.
  std::vector<unsigned> receives;
  llvm::DenseMap<Way, std::deque<unsigned>> ways;
  llvm::SmallVector<unsigned> ready;
};

} // namespace

std::string Rehearsal::describe(unsigned number) const {
  const Message &message = plan.messages[number];
  return llvm::formatv("the message from {0} on rank {1} to {2} on rank {3}", schedule.at(message.producer).str(),
                       message.producer.rank, schedule.at(message.consumer).str(), message.consumer.rank);
}

Error Rehearsal::receive(Place place, unsigned number, bool &isThere) {
  if (number >= plan.messages.size() || plan.messages[number].consumer.rank != place.rank)
    return failure("{0} receives message {1}, which is not for its rank", where(place), number);
  if (received[number])
    return failure("{0} receives {1} a second time", where(place), describe(number));
  std::deque<unsigned> &way = ways[wayOf(plan.messages[number])];
  isThere = !way.empty();
  if (!isThere)
    return Error::success();
  if (way.front() != number)
    return failure("{0} receives {1}, but {2} was sent before it", where(place), describe(number),
                   describe(way.front()));
  way.pop_front();
  received[number] = true;
  return Error::success();
}

Error Rehearsal::compute(Place place) {
  for (Place input : schedule.inputsOf(schedule.at(place))) {
    if (input.rank == place.rank) {
      if (input.index >= place.index)
        return failure("{0} comes before {1}", where(place), where(input));
      continue;
    }
    std::optional<unsigned> number = plan.rows[input.rank][input.index].send;
    if (!number || *number >= plan.messages.size() || !received[*number])
      return failure("{0} has not received what {1} makes", where(place), where(input));
  }
  std::optional<unsigned> send = plan.rows[place.rank][place.index].send;
  if (!send)
    return Error::success();
  if (*send >= plan.messages.size() || plan.messages[*send].producer != place || sent[*send])
    return failure("{0} sends message {1}, which is not its own", where(place), *send);
  sent[*send] = true;
  ways[wayOf(plan.messages[*send])].push_back(*send);
  ready.push_back(plan.messages[*send].consumer.rank);
  return Error::success();
}

/// A cell with its messages, as far as they are there.
Error Rehearsal::advance(unsigned rank, bool &goesOn) {
  Place place = {rank, done[rank]};
  const CellMessages &messages = plan.rows[rank][place.index];
  for (unsigned &count = receives[rank]; count < messages.receives.size(); ++count) {
    if (Error error = receive(place, messages.receives[count], goesOn))
      return error;
    if (!goesOn)
      return Error::success();
  }
  if (Error error = compute(place))
    return error;
  receives[rank] = 0;
  ++done[rank];
  return Error::success();
}

Error Rehearsal::run() {
  for (unsigned rank = 0; rank < schedule.numRanks(); ++rank)
    ready.push_back(rank);
  while (!ready.empty()) {
    unsigned rank = ready.pop_back_val();
    for (bool goesOn = true; goesOn && done[rank] < plan.rows[rank].size();)
      if (Error error = advance(rank, goesOn))
        return error;
  }
  for (unsigned rank = 0; rank < schedule.numRanks(); ++rank)
    if (done[rank] < plan.rows[rank].size()) {
      unsigned number = plan.rows[rank][done[rank]].receives[receives[rank]];
      return failure("deadlock: {0} waits for {1}", where({rank, done[rank]}), describe(number));
    }
  for (unsigned number = 0; number < plan.messages.size(); ++number)
    if (!received[number])
      return failure("{0} is not {1}", describe(number), sent[number] ? "received" : "sent");
  return Error::success();
}

Error braid::pipeline::verify(const Schedule &schedule, const MessagePlan &plan) {
  bool fits = plan.rows.size() == schedule.numRanks();
  for (unsigned rank = 0; fits && rank < schedule.numRanks(); ++rank)
    fits = plan.rows[rank].size() == schedule.getTable().rows[rank].size();
  if (!fits)
    return failure("the plan has not the cells of the schedule");
  return Rehearsal(schedule, plan).run();
}
