//===- Prefetch.cpp - how many units are gathered ahead -------------------===//
//
// Each unit that is gathered ahead takes the memory of its parameters. One is enough if every unit computes for longer
// than the gather of the next unit takes. Otherwise gathers must begin earlier, while a longer unit computes.
//
//===----------------------------------------------------------------------===//

#include "passes/Overlap/Prefetch.h"
#include "lib/Memory/Placement.h"
#include "lib/Schedule/Timeline.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;

//===----------------------------------------------------------------------===//
// Schedules within an arena limit
//
// The scheduler counts live bytes exactly, but offsets may leave gaps between buffers. So each candidate is placed as
// the planner will place it, and the next candidate gets a lower limit of live bytes. If none keeps the limit, the
// smallest is used, and the planner reports the missing bytes.
//===----------------------------------------------------------------------===//

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

/// Returns the bytes that the planner needs for a program in the order of a schedule: live bytes, and the gaps between
/// buffers.
static int64_t arenaBytes(const OverlapProblem &problem, const OverlapSchedule &schedule, int64_t alignment) {
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
    PlacementBuffer entry{buffer.bytes, buffer.isLiveIn ? -1 : int64_t(end), buffer.isLiveOut ? int64_t(end) : -1, {}};
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

/// Solves `problem` so that the arena, including gaps, keeps its limit, if there is such a schedule.
static OverlapSchedule solveWithinLimit(const OverlapProblem &problem, int64_t alignment) {
  OverlapSchedule best = leastMemorySchedule(problem);
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

//===----------------------------------------------------------------------===//
// Units gathered ahead
//===----------------------------------------------------------------------===//

/// Safety factor for predictions: a schedule must work when collectives take this many times as long.
static constexpr double kCollectiveSlowdown = 1.5;
/// The least share of the time that another unit must save, and the upper limit of units.
static constexpr double kMinGain = 0.002;
static constexpr unsigned kMaxUnits = 8;

OverlapSchedule braid::solveFor(const OverlapProblem &problem, int64_t alignment) {
  return problem.limit ? solveWithinLimit(problem, alignment) : solve(problem);
}

/// Returns the seconds of a schedule when collectives are slow.
static double slowSeconds(OverlapProblem problem, int64_t alignment) {
  OverlapSchedule schedule = solveFor(problem, alignment);
  for (OverlapProblem::Action &action : problem.actions)
    if (action.communicates())
      action.seconds *= kCollectiveSlowdown;
  return simulate(problem, schedule).seconds;
}

void braid::choosePrefetch(OverlapProblem &problem, int64_t alignment) {
  problem.prefetch = 1;
  if (llvm::none_of(problem.actions, [](const auto &action) { return action.kind == OverlapProblem::Kind::Gather; }))
    return;
  OverlapProblem deeper = problem;
  double seconds = slowSeconds(problem, alignment);
  while (problem.prefetch < kMaxUnits) {
    deeper.prefetch = problem.prefetch + 1;
    double next = slowSeconds(deeper, alignment);
    if (next > (1 - kMinGain) * seconds)
      return;
    problem.prefetch = deeper.prefetch;
    seconds = next;
  }
}
