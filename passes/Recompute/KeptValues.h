//===- KeptValues.h - values kept from forward to backward ------*- C++ -*-===//
#ifndef BRAID_PASSES_RECOMPUTE_KEPTVALUES_H
#define BRAID_PASSES_RECOMPUTE_KEPTVALUES_H

#include "passes/Recompute/ForwardValues.h"
#include "passes/Recompute/MinCut.h"
#include "passes/Recompute/ReplayPrices.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

/// Chooses, for each value that backward needs, whether it is kept or computed again, so that the sum of
/// the bytes of kept values and the prices of replays is minimal.
///
/// The choice is a minimum cut of a graph. A replayed op, and a value that backward needs, are on the sink's
/// side. The edges are:
/// - from the source to each op, with the price of its replay;
/// - from each op to its value, with the value's bytes: a needed value is kept unless its op is replayed;
/// - from each operand to its op, uncuttable: a replayed op needs its operands.
/// Of the minimum cuts it uses the one with the fewest replays.
class KeptValues {
public:
  KeptValues(const ForwardValues &values, const ReplayPrices &prices);

  bool isReplayed(mlir::Operation *op) const { return cut.isOnSinkSide(nodes.lookup(op)); }
  /// Whether the value is needed and its op is not replayed.
  bool isKept(mlir::Value value) const;

private:
  const ForwardValues &values;
  MinCut cut;
  llvm::DenseMap<mlir::Operation *, unsigned> nodes;
  llvm::DenseMap<mlir::Value, unsigned> nodesOfValues;
};

} // namespace braid

#endif // BRAID_PASSES_RECOMPUTE_KEPTVALUES_H
