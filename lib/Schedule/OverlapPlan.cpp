//===- OverlapPlan.cpp - what the schedule of a program builds on ---------===//

#include "lib/Schedule/OverlapPlan.h"
#include "lib/Schedule/LiveBytes.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace braid;
using Action = OverlapProblem::Action;
using Kind = OverlapProblem::Kind;

OverlapPlan::OverlapPlan(const OverlapProblem &problem) : problem(problem) {
  readOrder();
  readGroups();
  readUses();
  readMemory();
}

void OverlapPlan::readOrder() {
  size_t size = problem.actions.size();
  successors.resize(size);
  previousOrdered.assign(size, kNone);
  unsigned lastOrdered = kNone;
  for (unsigned number = 0; number < size; ++number) {
    const Action &action = problem.actions[number];
    for (const auto *list : {&action.needs, &action.after})
      for (unsigned other : *list)
        successors[other].push_back(number);
    if (action.ordered) {
      previousOrdered[number] = lastOrdered;
      lastOrdered = number;
    }
    if (action.kind == Kind::Gather)
      gathers.push_back(number);
  }
  std::stable_sort(gathers.begin(), gathers.end(),
                   [&](unsigned a, unsigned b) { return problem.actions[a].unit < problem.actions[b].unit; });
}

void OverlapPlan::readGroups() {
  size_t size = problem.actions.size();
  std::vector<unsigned> last(size, kNone);
  std::map<unsigned, Group> byLast;
  placeOf.assign(size, kNone);
  for (unsigned number = 0; number < size; ++number) {
    const Action &action = problem.actions[number];
    for (unsigned need : action.needs) {
      unsigned candidate = problem.actions[need].communicates() ? need : last[need];
      if (candidate != kNone && (last[number] == kNone || candidate > last[number]))
        last[number] = candidate;
    }
    if (action.communicates())
      continue;
    if (action.kind != Kind::Update || last[number] == kNone) {
      placeOf[number] = main.size();
      main.push_back(number);
      continue;
    }
    Group &group = byLast[last[number]];
    group.last = last[number];
    group.seconds += action.seconds;
    group.updates.push_back(number);
    for (unsigned successor : successors[number])
      group.feedsCollective |= problem.actions[successor].communicates();
  }
  groupOf.assign(size, kNone);
  for (auto &[collective, group] : byLast) {
    groupOf[collective] = groups.size();
    groups.push_back(std::move(group));
  }
  before.assign(1, 0);
  for (unsigned number : main)
    before.push_back(before.back() + problem.actions[number].seconds);
}

/// Finds the place at which each result is first used.  Results that only updates or
/// collectives use are needed last.
void OverlapPlan::readUses() {
  useOf.assign(problem.actions.size(), main.size());
  for (unsigned place = main.size(); place-- > 0;)
    for (unsigned need : problem.actions[main[place]].needs)
      useOf[need] = place;
  for (unsigned gather : gathers) {
    unsigned unit = problem.actions[gather].unit;
    useOfUnit.resize(std::max<size_t>(useOfUnit.size(), unit + 1), main.size());
    useOfUnit[unit] = std::min(useOfUnit[unit], useOf[gather]);
  }
}

void OverlapPlan::readMemory() {
  waitsEarly.assign(problem.actions.size(), false);
  for (const OverlapProblem::Buffer &buffer : problem.buffers)
    if (!buffer.toEnd && !buffer.users.empty())
      waitsEarly[buffer.users.back()] = true;
  for (unsigned number = 0; number < problem.actions.size(); ++number)
    if (problem.actions[number].communicates())
      for (unsigned need : problem.actions[number].needs)
        waitsEarly[need] = true;
  LiveBytes live(problem);
  liveAt.assign(main.size() + 1, live.live());
  mostLiveFrom.emplace_back(main.size() + 1, 0);
  unsigned place = 0;
  for (OverlapStep step : plainSchedule(problem).steps) {
    if (placeOf[step.action] != kNone) {
      place = placeOf[step.action];
      liveAt[place] = live.live();
    }
    if (step.kind != OverlapStep::Wait)
      live.begin(step.action);
    // Gathers come right before their readers.
    bool isGather = problem.actions[step.action].kind == Kind::Gather;
    int64_t &from = mostLiveFrom[0][isGather ? useOf[step.action] : place];
    from = std::max(from, live.live());
    if (step.kind != OverlapStep::Start)
      live.end(step.action);
  }
  liveAt[main.size()] = live.live();
  for (size_t step = 1; 2 * step <= main.size() + 1; step *= 2) {
    const std::vector<int64_t> &half = mostLiveFrom.back();
    std::vector<int64_t> whole(half.size() - step);
    for (size_t place = 0; place < whole.size(); ++place)
      whole[place] = std::max(half[place], half[place + step]);
    mostLiveFrom.push_back(std::move(whole));
  }
}

int64_t OverlapPlan::mostLive(unsigned begin, unsigned end) const {
  unsigned level = llvm::Log2_32(end - begin);
  return std::max(mostLiveFrom[level][begin], mostLiveFrom[level][end - (1u << level)]);
}
