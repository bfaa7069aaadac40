//===- OverlapLimit.cpp - schedules within an arena limit -----------------===//
//
// The scheduler counts live bytes exactly, but offsets may leave gaps between buffers. So each candidate is placed as
// the planner will place it, and the next candidate gets a lower limit of live bytes. If none keeps the limit, the
// smallest is used, and the planner reports the missing bytes.
//
//===----------------------------------------------------------------------===//

#include "passes/Overlap/OverlapLimit.h"
#include "lib/Memory/Placement.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;

/// Numbers the actions of a schedule like the planner. A collective with its wait right behind it is one action; any
/// other is two.
static std::vector<ActionSlots> numbersOf(const OverlapProblem &problem, const OverlapSchedule &schedule,
                                          unsigned &end) {
  std::vector<ActionSlots> numbers(problem.actions.size());
  end = 0;
  for (size_t index = 0; index < schedule.steps.size(); ++index) {
    auto [kind, action] = schedule.steps[index];
    bool isAtOnce = kind == OverlapStep::Wait && index > 0 && schedule.steps[index - 1].action == action;
    unsigned number = isAtOnce ? end - 1 : end++;
    if (kind != OverlapStep::Wait)
      numbers[action].begin = number;
    if (kind != OverlapStep::Start)
      numbers[action].end = number;
  }
  return numbers;
}

int64_t braid::arenaBytes(const OverlapProblem &problem, const OverlapSchedule &schedule, int64_t alignment) {
  PlacementProblem placement;
  placement.alignment = alignment;
  unsigned end = 0;
  std::vector<ActionSlots> numbers = numbersOf(problem, schedule, end);
  // Sorts like the planner: transient buffers from the last writer to the first.
  std::vector<LiveBuffer> buffers = problem.buffers;
  llvm::stable_sort(buffers, [&](const LiveBuffer &a, const LiveBuffer &b) {
    auto key = [&](const LiveBuffer &buffer) {
      bool isTransient = buffer.lastWriter >= 0;
      return std::pair(isTransient, isTransient ? -int64_t(numbers[buffer.lastWriter].begin) : 0);
    };
    return key(a) < key(b);
  });
  for (const LiveBuffer &buffer : buffers) {
    PlacementBuffer entry{buffer.bytes, buffer.fromStart ? -1 : int64_t(end), buffer.toEnd ? int64_t(end) : -1, {}};
    for (unsigned user : buffer.users) {
      entry.first = std::min<int64_t>(entry.first, numbers[user].begin);
      entry.last = std::max<int64_t>(entry.last, numbers[user].end);
    }
    if (buffer.isAtBase)
      entry.fixed = 0;
    placement.buffers.push_back(entry);
  }
  return problem.baseBytes + solve(placement).bytes;
}

OverlapSchedule braid::solveWithinLimit(const OverlapProblem &problem, int64_t alignment) {
  OverlapSchedule best = smallSchedule(problem);
  int64_t least = peakBytes(problem, best), arena = arenaBytes(problem, best, alignment);
  OverlapProblem candidate = problem;
  while (true) {
    OverlapSchedule schedule = solve(candidate);
    int64_t needed = arenaBytes(problem, schedule, alignment), excess = needed - *problem.limit;
    if (excess <= 0)
      return schedule;
    if (needed < arena) {
      best = std::move(schedule);
      arena = needed;
    }
    if (*candidate.limit <= least)
      return best;
    *candidate.limit = std::max(least, *candidate.limit - excess);
  }
}
