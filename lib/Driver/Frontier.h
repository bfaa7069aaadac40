//===- Frontier.h - bytes against time, by what backward computes again -*- C++ -*-===//
//
// `--recompute=auto` asks for a price of a second of replaying, in bytes.  The graph is
// compiled for each of some prices, and the memory planner says what each takes.  What replays
// the same is compiled once.  Between two prices that are far apart, or one of which keeps the
// budget, some units are replayed at the one and the rest at the other; and from all of these a
// best-first search keeps or replays the values of one name more.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_DRIVER_FRONTIER_H
#define BRAID_LIB_DRIVER_FRONTIER_H

#include "lib/Driver/Trial.h"
#include "lib/Report/Replays.h"

namespace braid {

/// A choice, and what it leads to.
struct FrontierPoint {
  ReplayChoice choice;
  Trial trial;
};

struct Frontier {
  /// From nothing that is replayed to everything that can be, then those with single values.
  std::vector<FrontierPoint> points;
  /// The fastest that keeps the budget, the smaller of two as fast.
  std::optional<size_t> chosen;

  const FrontierPoint *getChosen() const { return chosen ? &points[*chosen] : nullptr; }
  const FrontierPoint &smallest() const;
  /// As reports have it.
  std::vector<ReplayReport> report() const;
};

/// Compiles `module`, whose composites are decomposed, for each choice.
mlir::FailureOr<Frontier> findFrontier(mlir::ModuleOp module, const DriverOptions &options, int64_t budget);

} // namespace braid

#endif // BRAID_LIB_DRIVER_FRONTIER_H
