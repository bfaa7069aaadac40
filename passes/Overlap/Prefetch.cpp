//===- Prefetch.cpp - how far ahead units are gathered --------------------===//
//
// Each unit that is gathered ahead takes the memory of its parameters.  One is enough where every
// unit computes for longer than the next is gathered.  Where some do not, gathers must begin before
// that, while a longer unit computes.
//
//===----------------------------------------------------------------------===//

#include "passes/Overlap/Prefetch.h"
#include "lib/Schedule/Timeline.h"
#include "passes/Overlap/OverlapLimit.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;

/// Predictions are off: a schedule must do when collectives take so many times as long.
static constexpr double kSlower = 1.5;
/// The part of the time that a unit more must save, and the most units.
static constexpr double kLeastGain = 0.002;
static constexpr unsigned kMostUnits = 8;

OverlapSchedule braid::solveFor(const OverlapProblem &problem, int64_t alignment) {
  return problem.limit ? solveWithinLimit(problem, alignment) : solve(problem);
}

/// How long a schedule takes when collectives are slow.
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
  OverlapProblem further = problem;
  double seconds = slowSeconds(problem, alignment);
  while (problem.prefetch < kMostUnits) {
    further.prefetch = problem.prefetch + 1;
    double next = slowSeconds(further, alignment);
    if (next > (1 - kLeastGain) * seconds)
      return;
    problem.prefetch = further.prefetch;
    seconds = next;
  }
}
