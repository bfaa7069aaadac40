//===- Simulate.h - times of the cells of a schedule ------------*- C++ -*-===//
//
// Ranks run their cells in order, each as soon as the rank is free and the cell's inputs
// have arrived. A send takes no time of the rank. A message arrives some time after the cell
// that makes it, and messages do not delay each other.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_SIMULATE_H
#define BRAID_LIB_PIPELINE_SIMULATE_H

#include "lib/Pipeline/Schedule.h"

namespace braid::pipeline {

/// Times of a stage, in any unit.
struct StageTimes {
  double forward = 1, inputGradient = 1, weightGradient = 1;
  /// Time of sending its activation to the next stage's rank, and its gradient to the
  /// previous stage's rank. 0 if that is the same rank.
  double sendActivation = 0, sendGradient = 0;

  /// Returns the time of an action; a B takes an I and a W.
  double of(Action action) const;
  /// Returns the time of the message that an action sends.
  double ofMessage(Action action) const { return action == Action::Forward ? sendActivation : sendGradient; }
};

struct Span {
  double begin = 0, end = 0;
};

struct Simulation {
  /// Time spans by rank and by its cells.
  std::vector<std::vector<Span>> spans;
  /// Computing time of each rank.
  std::vector<double> busy;
  /// End of the last rank.
  double end = 0;
  /// Idle share of all ranks' time until the end.
  double bubble = 0;

  /// Starts with all spans of the schedule at 0.
  explicit Simulation(const Schedule &schedule);
  Simulation() = default;
  /// Sets the time span of a cell; call `finish` after the last one.
  void put(Place place, double begin, double time);
  void finish();
};

/// Fails unless there is an entry for each stage, and all numbers are finite, not negative, and not all 0.
llvm::Error check(const Schedule &schedule, const std::vector<StageTimes> &stages);

/// Simulates a schedule with times that passed `check`. O(cells).
Simulation simulate(const Schedule &schedule, const std::vector<StageTimes> &stages);

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_SIMULATE_H
