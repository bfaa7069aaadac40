//===- TokenDims.h - batch dims and sequence dims ---------------*- C++ -*-===//
//
// Follows the batch and sequence dims of tokens and targets through a graph.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_TOKENDIMS_H
#define BRAID_LIB_SHARDING_TOKENDIMS_H

#include "lib/Sharding/DimFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace braid {

class TokenDims {
public:
  enum class Kind : char { None, Batch, Sequence };

  explicit TokenDims(mlir::func::FuncOp function);

  /// Returns whether a dim of a value is batch, sequence or neither. A dim that joins both counts as sequence.
  Kind kindOf(mlir::Value value, int64_t dim) const;
  /// Returns the kind of each factor of an op's rule.
  llvm::SmallVector<Kind> kindsOf(mlir::Operation *op, const ShardingRule &rule) const;
  /// Returns whether a value is a sum over the batch, or over the sequence. Ranks that divide the examples, or the
  /// positions, among themselves then have summands of it.
  bool isSumOver(Kind kind, mlir::Value value) const {
    return (kind == Kind::Batch ? batchSums : sequenceSums).contains(value);
  }

private:
  DimFlow batch, sequence;
  llvm::DenseSet<mlir::Value> batchSums, sequenceSums;
};

} // namespace braid

#endif // BRAID_LIB_SHARDING_TOKENDIMS_H
