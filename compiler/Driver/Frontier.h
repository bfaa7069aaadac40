//===- Frontier.h - memory and time of choices of recomputation -*- C++ -*-===//
//
// Finds the frontier for `--recompute=auto`: which values backward computes again. A choice sets a price of a second of
// replaying, in bytes. The graph is compiled for several prices, and the memory planner tells the arena of each;
// choices that replay the same values are compiled once. Between two prices that are far apart, or of which only one
// keeps the budget, some units are replayed at one price and the rest at the other. From all these points, a best-first
// search keeps or replays the values of one more name at a time.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_DRIVER_FRONTIER_H
#define BRAID_COMPILER_DRIVER_FRONTIER_H

#include "compiler/Driver/Trial.h"
#include "compiler/Report/Replays.h"
#include "passes/Recompute/Choices.h"

namespace braid {

/// The values of a name in all units, and whether backward keeps them or computes them again.
struct ValueChoice {
  mlir::StringAttr name;
  bool isKept;
};

/// A choice of values to replay.
struct ReplayChoice {
  /// Price of a replay, or none if nothing is replayed.
  std::optional<ReplayThreshold> worth;
  /// Values that are kept or replayed regardless of the price; the last choice comes first.
  std::vector<ValueChoice> values = {};
};

/// Lets tg-recompute make the choice: sets its options, and marks the values of `module`.
void applyReplayChoice(DriverOptions &options, mlir::ModuleOp module, const ReplayChoice &choice);

struct FrontierPoint {
  ReplayChoice choice;
  PlanCost cost;
};

struct Frontier {
  /// Points from no replays to all possible replays, then the points that differ in single values.
  std::vector<FrontierPoint> points;
  /// Index of the fastest point within the budget; of equally fast points, the one with the smaller arena.
  std::optional<size_t> chosen;

  /// Returns the chosen point, or the point with the smallest arena if no point keeps the budget.
  const FrontierPoint &best() const;
  /// Returns the points in the form that reports show.
  std::vector<ReplayReport> report() const;
};

/// Compiles `module`, in which composites are decomposed, for each choice.
mlir::FailureOr<Frontier> findFrontier(mlir::ModuleOp module, const DriverOptions &options, int64_t budget);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_FRONTIER_H
