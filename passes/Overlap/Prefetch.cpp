//===- Prefetch.cpp - how many units are gathered ahead -------------------===//
//
// Each unit that is gathered ahead takes the memory of its parameters. One is enough if every unit computes for longer
// than the gather of the next unit takes. Otherwise gathers must begin earlier, while a longer unit computes.
//
//===----------------------------------------------------------------------===//

#include "passes/Overlap/Prefetch.h"
#include "lib/Schedule/Timeline.h"
#include "passes/Overlap/OverlapLimit.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;

/// Safety factor for predictions: a schedule must work when collectives take this many times as long.
static constexpr double kSlower = 1.5;
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
      action.seconds *= kSlower;
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
