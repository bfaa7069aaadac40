//===- TokenDims.h - which dims are examples, which positions ---*- C++ -*-===//
//
// The dims of tokens and targets, followed through a graph by the factors of sharding rules.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_TOKENDIMS_H
#define BRAID_LIB_SHARDING_TOKENDIMS_H

#include "dialects/Interfaces/ShardingRule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace braid {

class TokenDims {
public:
  enum class Kind : char { None, Batch, Sequence };

  explicit TokenDims(mlir::func::FuncOp function);

  /// What a dim of a value tells apart.
  Kind kindOf(mlir::Value value, int64_t dim) const;
  /// What each factor of an op's rule does.
  llvm::SmallVector<Kind> kindsOf(mlir::Operation *op, const ShardingRule &rule) const;
  /// Whether a value is a sum over positions, so that ranks with some of them have summands.
  bool isSumOverSequence(mlir::Value value) const { return sums.contains(value); }

private:
  bool mark(mlir::Value value, const ShardingRule::TensorFactors &factors, llvm::ArrayRef<Kind> ofFactors);
  bool mark(mlir::Operation *op, const ShardingRule &rule);
  void sumUp(mlir::Operation *op, const ShardingRule &rule);

  llvm::DenseMap<mlir::Value, llvm::SmallVector<Kind, 4>> kinds;
  llvm::DenseSet<mlir::Value> sums;
};

} // namespace braid

#endif // BRAID_LIB_SHARDING_TOKENDIMS_H
