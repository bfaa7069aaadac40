//===- ReplayPrices.h - price of a replay under a policy --------*- C++ -*-===//
#ifndef BRAID_PASSES_RECOMPUTE_REPLAYPRICES_H
#define BRAID_PASSES_RECOMPUTE_REPLAYPRICES_H

#include "lib/Cost/Machine.h"
#include "passes/Recompute/Choices.h"
#include "passes/Recompute/ForwardValues.h"
#include "passes/Recompute/Policy.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

/// Whether an op is elementwise and computed in the kernel that reads it.
bool fusesIntoReader(mlir::Operation *op);

/// Predicts the seconds of an op that is not an action yet. An op that fuses into its reader's kernel takes the time
/// of its arithmetic, but no memory traffic.
class OpSeconds {
public:
  explicit OpSeconds(const Machine &machine) : machine(machine) {}
  double of(mlir::Operation *op) const;
  const ComputeRates &getRates() const { return machine.compute; }

private:
  const Machine &machine;
};

/// The price of a replay and the reason for it, in words.
struct ReplayPrice {
  /// Bytes; nothing if the op must not be replayed.
  std::optional<int64_t> bytes;
  llvm::StringRef reason;
};

/// Prices of replays under a policy and its exceptions, in the bytes that would be worth as much.
class ReplayPrices {
public:
  ReplayPrices(const ForwardValues &values, RecomputePolicy policy, const ReplayThreshold &worth,
               const ReplayChoices &choices, const OpSeconds &seconds);

  ReplayPrice of(mlir::Operation *op) const;
  /// Whether the op must be replayed: its results may be kept only if it cannot be.
  bool mustReplay(mlir::Operation *op) const { return choices.isKept(op) == false; }

private:
  void findAttention();
  void numberUnits();
  double bytesPerSecondFor(mlir::Operation *op, RecomputePolicy policy) const;
  ReplayPrice priceUnder(RecomputePolicy policy, mlir::Operation *op) const;

  const ForwardValues &values;
  RecomputePolicy policy;
  ReplayThreshold worth;
  const ReplayChoices &choices;
  const OpSeconds &seconds;
  llvm::DenseSet<mlir::Operation *> attention;
  llvm::DenseMap<mlir::StringAttr, int64_t> numberOfUnit;
};

} // namespace braid

#endif // BRAID_PASSES_RECOMPUTE_REPLAYPRICES_H
