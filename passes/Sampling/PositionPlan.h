//===- PositionPlan.h - values needed for one position ----------*- C++ -*-===//
//
// The logits of a position need, of most values, that position alone. The factors of sharding rules tell which dim of
// a value is the sequence, as for a mesh whose ranks have one position each. Values that an op reads at earlier
// positions (CausalOpInterface) are cached.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_SAMPLING_POSITIONPLAN_H
#define BRAID_PASSES_SAMPLING_POSITIONPLAN_H

#include "dialects/Interfaces/Interfaces.h"
#include "lib/Sharding/DimFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// A value that later positions read, and its sequence dim.
struct CachedValue {
  mlir::Value value;
  unsigned dim;
  std::string name; ///< "h.0.cache.key"
};

class PositionPlan {
public:
  PositionPlan(mlir::func::FuncOp function, mlir::BlockArgument tokens, mlir::BlockArgument position)
      : function(function), tokens(tokens), position(position) {}

  /// Plans backwards from the results. Fails, with the reason in `why`, if an op needs all positions.
  mlir::LogicalResult find(std::string &why);
  /// Returns the composites that must be replaced by their definitions first. If there are any, the rest of the plan
  /// is not valid.
  llvm::ArrayRef<mlir::Operation *> getComposites() const { return composites.getArrayRef(); }

  bool dependsOnTokens(mlir::Value value) const { return ofTokens.contains(value); }
  /// `isNeededWhole` tells whether all of a value is needed; `getNeededDims` returns the dims along which only the
  /// position is needed.
  bool isNeededWhole(mlir::Value value) const { return whole.contains(value); }
  llvm::ArrayRef<unsigned> getNeededDims(mlir::Value value) const;
  /// Returns how to build the op of a value at the position along `dim`. Returns nothing if the row is picked from the
  /// existing value instead.
  std::optional<FactorDims> dimsOf(mlir::OpResult value, unsigned dim) const;
  const llvm::MapVector<mlir::Value, CachedValue> &getCaches() const { return caches; }

private:
  void need(mlir::Value value, std::optional<unsigned> dim);
  mlir::LogicalResult visitWhole(mlir::OpResult value, std::string &why);
  mlir::LogicalResult visitRow(mlir::OpResult value, unsigned dim, std::string &why);
  void visitCausal(CausalOpInterface op, const SequenceDims &dims);
  void addCache(mlir::Operation *op, mlir::Value value, unsigned dim, llvm::StringRef what);

  mlir::func::FuncOp function;
  mlir::BlockArgument tokens, position;
  llvm::DenseSet<mlir::Value> ofTokens, whole;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned, 1>> rows;
  llvm::MapVector<mlir::Value, CachedValue> caches;
  llvm::SetVector<mlir::Operation *> composites;
};

} // namespace braid

#endif // BRAID_PASSES_SAMPLING_POSITIONPLAN_H
