//===- Frontier.h - bytes against time, by what backward computes again -*- C++ -*-===//
//
// `--recompute=auto` asks for a price of a second of replaying, in bytes.  The graph is
// compiled for each of some prices, and the memory planner says what each takes.  What replays
// the same is compiled once.  Between two prices, one of which keeps the budget, some units are
// replayed at the one and the rest at the other.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_DRIVER_FRONTIER_H
#define BRAID_LIB_DRIVER_FRONTIER_H

#include "lib/Driver/Options.h"
#include "lib/Report/Replays.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// What a choice leads to.
struct FrontierPoint {
  /// None where nothing is replayed.
  std::optional<ReplayWorth> replays;
  /// What prices do not say, as statements of tg-recompute.
  std::string choices;
  int64_t arenaBytes;
  /// The activations at the peak.
  int64_t activationBytes;
  /// A step, as predicted.
  double seconds;
};

struct Frontier {
  /// From nothing that is replayed to everything that can be.
  std::vector<FrontierPoint> points;
  /// The fastest that keeps the budget, the smaller of two as fast.
  std::optional<size_t> chosen;

  const FrontierPoint *getChosen() const { return chosen ? &points[*chosen] : nullptr; }
  const FrontierPoint &smallest() const;
  /// As reports have it.
  std::vector<ReplayReport> report() const;
};

/// Compiles `module`, whose composites are decomposed, at each price.  Plans are those of the
/// memory limit, if one is given, where they keep it, and else those without it.
mlir::FailureOr<Frontier> findFrontier(mlir::ModuleOp module, const DriverOptions &options, int64_t budget);

} // namespace braid

#endif // BRAID_LIB_DRIVER_FRONTIER_H
