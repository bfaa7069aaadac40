//===- OverlapPlan.cpp - precomputed facts for the schedule ---------------===//

#include "lib/Schedule/OverlapPlan.h"
#include <map>
#include <set>

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
    for (const auto *list : {&action.dependences, &action.antiDependences})
      for (unsigned other : *list)
        successors[other].push_back(number);
    if (action.ordered) {
      previousOrdered[number] = lastOrdered;
      lastOrdered = number;
    }
  }
}

void OverlapPlan::readGroups() {
  size_t size = problem.actions.size();
  std::vector<unsigned> last(size, kNone);
  std::map<unsigned, Group> byLast;
  std::set<unsigned> fetched; // by groups
  placeOf.assign(size, kNone);
  for (unsigned number = 0; number < size; ++number) {
    const Action &action = problem.actions[number];
    for (unsigned dependence : action.dependences) {
      // Data from the host is available whenever it is requested.
      const Action &needed = problem.actions[dependence];
      unsigned candidate =
          needed.communicates() ? (needed.queue == problem.kRanks ? dependence : kNone) : last[dependence];
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
    for (unsigned dependence : action.dependences)
      if (problem.actions[dependence].queue == problem.kFromHost && fetched.insert(dependence).second)
        group.fetches.push_back(dependence);
    for (unsigned successor : successors[number])
      group.feedsCollective |= problem.actions[successor].communicates();
  }
  groupOf.assign(size, kNone);
  for (auto &[collective, group] : byLast) {
    groupOf[collective] = groups.size();
    hasFetches |= !group.fetches.empty();
    groups.push_back(std::move(group));
  }
  for (unsigned number = 0; number < size; ++number)
    if (problem.actions[number].kind == Kind::Gather && !fetched.count(number))
      gathers[problem.actions[number].queue].push_back(number);
  for (std::vector<unsigned> &queueGathers : gathers)
    std::stable_sort(queueGathers.begin(), queueGathers.end(),
                     [&](unsigned a, unsigned b) { return problem.actions[a].unit < problem.actions[b].unit; });
  before.assign(1, 0);
  for (unsigned number : main)
    before.push_back(before.back() + problem.actions[number].seconds);
}

/// Finds the position at which each result is first used. Results that only updates or collectives use are needed last.
void OverlapPlan::readUses() {
  useOf.assign(problem.actions.size(), main.size());
  for (unsigned place = main.size(); place-- > 0;)
    for (unsigned dependence : problem.actions[main[place]].dependences)
      useOf[dependence] = place;
  for (unsigned queue = 0; queue < problem.kNumQueues; ++queue)
    for (unsigned gather : gathers[queue]) {
      unsigned unit = problem.actions[gather].unit;
      std::vector<unsigned> &uses = useOfUnit[queue];
      uses.resize(std::max<size_t>(uses.size(), unit + 1), main.size());
      uses[unit] = std::min(uses[unit], useOf[gather]);
    }
}

void OverlapPlan::readMemory() {
  waitsEarly.assign(problem.actions.size(), false);
  bytesTaken.assign(problem.actions.size(), 0);
  for (const OverlapProblem::Buffer &buffer : problem.buffers) {
    if (!buffer.isLiveOut && !buffer.users.empty())
      waitsEarly[buffer.users.back()] = true;
    if (!buffer.isLiveIn && !buffer.users.empty())
      bytesTaken[buffer.users.front()] += buffer.bytes;
  }
  for (unsigned number = 0; number < problem.actions.size(); ++number)
    if (problem.actions[number].communicates())
      for (unsigned dependence : problem.actions[number].dependences)
        waitsEarly[dependence] = true;
}

std::vector<bool> OverlapPlan::groupsToKeep(const std::vector<double> &secondsLeft) const {
  size_t count = groups.size(), first = count;
  auto isKept = [&](size_t index) { return !groups[index].feedsCollective; };
  // Seconds of all groups before each one that may be kept.
  std::vector<double> before(1, 0);
  for (size_t index = 0; index < count; ++index)
    before.push_back(before.back() + (isKept(index) ? groups[index].seconds : 0));
  for (size_t index = 0; index < count; ++index) {
    if (secondsLeft[index] == 0)
      continue;
    first = std::min(first, index);
    while (first > 0 && before[index] - before[first] < secondsLeft[index])
      --first;
  }
  std::vector<bool> late(count);
  for (size_t index = first; index < count; ++index)
    late[index] = isKept(index);
  return late;
}
