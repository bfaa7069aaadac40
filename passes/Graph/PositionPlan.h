//===- PositionPlan.h - what one position of a sequence needs ---*- C++ -*-===//
//
// The logits of a position need of most values that position alone: which dim is the sequence
// there, the factors of sharding rules say, as for a mesh whose ranks have a position each.
// What an op reads at earlier positions (CausalOpInterface) is a cache.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_GRAPH_POSITIONPLAN_H
#define BRAID_PASSES_GRAPH_POSITIONPLAN_H

#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace braid {

/// How an op is built at one position.
struct PositionDims {
  ShardingRule rule;
  unsigned factor; ///< That of the sequence.
  /// The dim of the sequence in each operand and result, where it has it.
  llvm::SmallVector<std::optional<unsigned>> operands, results;
};

/// What later positions read of a value, and its dim of the sequence.
struct CachedValue {
  mlir::Value value;
  unsigned dim;
  std::string name; ///< "h.0.cache.key"
};

class PositionPlan {
public:
  PositionPlan(mlir::func::FuncOp function, mlir::BlockArgument tokens, mlir::BlockArgument position)
      : function(function), tokens(tokens), position(position) {}

  /// Works back from the results.  Fails, and `why` says why, where an op needs all positions.
  mlir::LogicalResult find(std::string &why);
  /// Composites that can be built at a position as their definitions alone; with any, the rest
  /// of the plan is not to be used.
  llvm::ArrayRef<mlir::Operation *> getComposites() const { return composites.getArrayRef(); }

  bool dependsOnTokens(mlir::Value value) const { return ofTokens.contains(value); }
  /// Whether a value is needed as it is, and the dims along which its position is.
  bool isNeededWhole(mlir::Value value) const { return whole.contains(value); }
  llvm::ArrayRef<unsigned> getNeededDims(mlir::Value value) const;
  /// How the op of a value is built at the position along `dim`; none where the row of the value that
  /// is there is picked.
  std::optional<PositionDims> dimsOf(mlir::OpResult value, unsigned dim) const;
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

#endif // BRAID_PASSES_GRAPH_POSITIONPLAN_H
