//===- BatchDims.h - the batch dim of every value ---------------*- C++ -*-===//
//
// The batch is dim 0 of the inputs with the role of a batch input. The flow of this dim (lib/Sharding/DimFlow.h) is
// followed to every value with a batch, and no op may mix examples along it. A value has the batch in one dim. A
// reshape may have joined this dim with others.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_FRONTEND_BATCHDIMS_H
#define BRAID_PASSES_FRONTEND_BATCHDIMS_H

#include "lib/Sharding/DimFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

class BatchDims : DimFlow {
public:
  /// Finds the batch dim of every value; an error names the op at which it cannot be followed. Gives each use of a
  /// constant its own copy.
  static mlir::FailureOr<BatchDims> find(mlir::func::FuncOp function);

  /// The size of the batch.
  int64_t size() const { return batch; }
  /// Whether `op` reads the batch and returns a result without it, that is, mixes examples.
  bool endsAt(mlir::Operation *op) const;

  /// Changes the batch size in all types and constants of `function`.
  mlir::LogicalResult resize(mlir::func::FuncOp function, int64_t newBatch) const;

private:
  llvm::LogicalResult startAtInputs(mlir::func::FuncOp function);
  mlir::WalkResult enter(mlir::Operation *op, const ShardingRule *rule, DimParts &factors) override;
  mlir::WalkResult reach(mlir::Operation *op, mlir::Value value, DimPart part) override;
  llvm::LogicalResult check(mlir::Operation *op, const ShardingRule &rule, DimPart part) const;

  int64_t batch = 0;
};

} // namespace braid

#endif // BRAID_PASSES_FRONTEND_BATCHDIMS_H
