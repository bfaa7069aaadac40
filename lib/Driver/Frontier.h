//===- Frontier.h - bytes against time, by what backward computes again -*- C++ -*-===//
//
// `--recompute=auto` asks for a price of a second of replaying, in bytes.  The graph is
// compiled for each of some prices, and the memory planner says what each takes.  What replays
// the same is compiled once.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_DRIVER_FRONTIER_H
#define BRAID_LIB_DRIVER_FRONTIER_H

#include "lib/Driver/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace braid {

/// What a price leads to.
struct FrontierPoint {
  /// That of a second of replaying, in bytes; none where nothing is replayed.
  std::optional<double> bytesPerSecond;
  int64_t arenaBytes;
  /// The activations at the peak.
  int64_t activationBytes;
  /// A step, as predicted.
  double seconds;
};

struct Frontier {
  /// From nothing that is replayed to everything that can be.
  std::vector<FrontierPoint> points;

  /// The fastest point whose arena fits, the smaller of two as fast; null if none fits.
  const FrontierPoint *fastestWithin(int64_t bytes) const;
  const FrontierPoint &smallest() const;
};

/// Compiles `module`, whose composites are decomposed, at each price.
mlir::FailureOr<Frontier> findFrontier(mlir::ModuleOp module, const DriverOptions &options);

/// A table, with a mark at the point that was chosen.
void printFrontier(llvm::raw_ostream &stream, const Frontier &frontier, const FrontierPoint &chosen);

} // namespace braid

#endif // BRAID_LIB_DRIVER_FRONTIER_H
