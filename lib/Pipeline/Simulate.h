//===- Simulate.h - when each cell of a schedule takes place ----*- C++ -*-===//
//
// Ranks do their cells in order, each when the rank is free and what the cell takes has
// arrived.  Sends take no time of the rank; a message arrives some time behind the cell that
// makes it, and messages do not hinder each other.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_SIMULATE_H
#define BRAID_LIB_PIPELINE_SIMULATE_H

#include "lib/Pipeline/Schedule.h"

namespace braid::pipeline {

/// What a stage takes, in any unit of time.
struct StageTimes {
  double forward = 1, inputGradient = 1, weightGradient = 1;
  /// What its activation takes to the next stage's rank, and its gradient to the rank of the
  /// stage before; nothing where that is its own.
  double sendActivation = 0, sendGradient = 0;

  /// A B takes an I and a W.
  double of(Action action) const;
  /// What the message that an action sends takes.
  double ofMessage(Action action) const { return action == Action::Forward ? sendActivation : sendGradient; }
};

struct Span {
  double begin = 0, end = 0;
};

struct Simulation {
  /// By rank and by its cells.
  std::vector<std::vector<Span>> spans;
  /// How long each rank computes.
  std::vector<double> busy;
  /// When the last rank is ready.
  double end = 0;
  /// The share of all ranks' time until then in which they are idle.
  double bubble = 0;

  /// With all spans of the schedule at 0.
  explicit Simulation(const Schedule &schedule);
  Simulation() = default;
  /// Puts a cell of some time there; `finish` when all are.
  void put(Place place, double begin, double time);
  void finish();
};

/// Whether there is an entry for each stage, of finite numbers that are not negative, and not
/// all nothing.
llvm::Error check(const Schedule &schedule, const std::vector<StageTimes> &stages);

/// With times that passed `check`.  O(cells).
Simulation simulate(const Schedule &schedule, const std::vector<StageTimes> &stages);

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_SIMULATE_H
