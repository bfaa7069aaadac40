//===- KeptValues.h - what lives from forward to backward --------*- C++ -*-===//
#ifndef BRAID_PASSES_RECOMPUTE_KEPTVALUES_H
#define BRAID_PASSES_RECOMPUTE_KEPTVALUES_H

#include "passes/Recompute/ForwardValues.h"
#include "passes/Recompute/MinCut.h"
#include "passes/Recompute/ReplayPrices.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

/// Chooses for each value that backward needs whether it is kept or computed again, such that
/// the bytes of what is kept and the prices of what is replayed are together the least.
///
/// A cut of a graph: an op is on the sink's side where it is replayed, a value where backward
/// needs it.  Forward can make every op (an edge from the source with its price), a value that is
/// needed is kept unless its op is replayed (an edge from op to value with its bytes), and a
/// replayed op needs its operands (an edge from value to op that nothing cuts).  Of cuts that
/// cost the same it is the one with the fewest replays.
class KeptValues {
public:
  KeptValues(const ForwardValues &values, const ReplayPrices &prices);

  bool isReplayed(mlir::Operation *op) const { return cut.isOnSinkSide(nodes.lookup(op)); }
  /// Whether it is needed and its op not replayed.
  bool isKept(mlir::Value value) const;

private:
  const ForwardValues &values;
  MinCut cut;
  llvm::DenseMap<mlir::Operation *, unsigned> nodes;
  llvm::DenseMap<mlir::Value, unsigned> nodesOfValues;
};

} // namespace braid

#endif // BRAID_PASSES_RECOMPUTE_KEPTVALUES_H
