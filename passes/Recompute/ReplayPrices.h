//===- ReplayPrices.h - what a policy pays for a replay ----------*- C++ -*-===//
#ifndef BRAID_PASSES_RECOMPUTE_REPLAYPRICES_H
#define BRAID_PASSES_RECOMPUTE_REPLAYPRICES_H

#include "lib/Cost/Cost.h"
#include "passes/Recompute/ForwardValues.h"
#include "passes/Recompute/Policy.h"

namespace braid {

/// How long an op takes that is not an action yet.  What becomes a part of its reader's kernel
/// takes its arithmetic and no traffic.
double secondsOf(mlir::Operation *op, const ComputeRates &rates);

/// What replays cost under a policy, in bytes that would be worth as much.
class ReplayPrices {
public:
  /// `bytesPerSecond`: what a second of replaying is worth, for Auto.
  ReplayPrices(const ForwardValues &values, RecomputePolicy policy, double bytesPerSecond, const ComputeRates &rates);

  /// None if it must not be replayed.
  std::optional<int64_t> of(mlir::Operation *op) const;

private:
  void findAttention();
  std::optional<double> secondsFor(mlir::Operation *op) const;

  const ForwardValues &values;
  RecomputePolicy policy;
  double bytesPerSecond;
  const ComputeRates &rates;
  /// What attention computes, by the library's call or by its definition.
  llvm::DenseSet<mlir::Operation *> attention;
};

} // namespace braid

#endif // BRAID_PASSES_RECOMPUTE_REPLAYPRICES_H
