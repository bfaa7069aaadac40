//===- ReplayPrices.h - what a policy pays for a replay ----------*- C++ -*-===//
#ifndef BRAID_PASSES_RECOMPUTE_REPLAYPRICES_H
#define BRAID_PASSES_RECOMPUTE_REPLAYPRICES_H

#include "lib/Cost/Machine.h"
#include "passes/Recompute/Choices.h"
#include "passes/Recompute/ForwardValues.h"
#include "passes/Recompute/Policy.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

/// Whether an op is computed element by element, in the kernel that reads it.
bool joinsItsReader(mlir::Operation *op);

/// How long an op takes that is not an action yet.  What becomes a part of its reader's kernel
/// takes its arithmetic and no traffic.
class OpSeconds {
public:
  explicit OpSeconds(const Machine &machine) : machine(machine) {}
  double of(mlir::Operation *op) const;
  const ComputeRates &getRates() const { return machine.compute; }

private:
  const Machine &machine;
};

/// What a replay costs, and why: for people.
struct ReplayPrice {
  /// None if it must not be replayed.
  std::optional<int64_t> bytes;
  llvm::StringRef reason;
};

/// What replays cost under a policy and its exceptions, in bytes that would be worth as much.
class ReplayPrices {
public:
  ReplayPrices(const ForwardValues &values, RecomputePolicy policy, const ReplayWorth &worth,
               const ReplayChoices &choices, const OpSeconds &seconds);

  ReplayPrice of(mlir::Operation *op) const;
  /// Whether its results may only be kept if it cannot be replayed.
  bool mustReplay(mlir::Operation *op) const { return choices.isKept(op) == false; }

private:
  void findAttention();
  void numberUnits();
  double bytesPerSecondFor(mlir::Operation *op, RecomputePolicy policy) const;
  ReplayPrice priceUnder(RecomputePolicy policy, mlir::Operation *op) const;

  const ForwardValues &values;
  RecomputePolicy policy;
  ReplayWorth worth;
  const ReplayChoices &choices;
  const OpSeconds &seconds;
  llvm::DenseSet<mlir::Operation *> attention;
  llvm::DenseMap<mlir::StringAttr, int64_t> numberOfUnit;
};

} // namespace braid

#endif // BRAID_PASSES_RECOMPUTE_REPLAYPRICES_H
