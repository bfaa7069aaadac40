//===- BatchDims.h - the batch dim of every value ---------------*- C++ -*-===//
//
// The batch is dim 0 of the inputs with the role of a batch input. It follows the factors of the ops' sharding rules,
// forwards and backwards, to every value with a batch. A value has it in one dim. A reshape may have joined this dim
// with others: its size is then outer * batch * inner.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_GRAPH_BATCHDIMS_H
#define BRAID_PASSES_GRAPH_BATCHDIMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace braid {

struct BatchDim {
  unsigned dim;
  int64_t inner; ///< Number of elements of the dim per row of the batch.

  bool operator==(const BatchDim &other) const { return dim == other.dim && inner == other.inner; }
  bool operator!=(const BatchDim &other) const { return !(*this == other); }
};

class BatchDims {
public:
  /// Finds the batch dim of every value; an error names the op at which it cannot be followed. Gives each use of a
  /// constant its own copy.
  static mlir::FailureOr<BatchDims> find(mlir::func::FuncOp function);

  /// The size of the batch.
  int64_t size() const { return batch; }
  /// Returns the batch dim of `value`, or nothing if it has no batch.
  std::optional<BatchDim> of(mlir::Value value) const;
  /// Whether `op` reads the batch and returns a result without it, that is, mixes examples.
  bool endsAt(mlir::Operation *op) const;

  /// Changes the batch size in all types and constants of `function`.
  mlir::LogicalResult resize(mlir::func::FuncOp function, int64_t newBatch) const;

private:
  int64_t batch = 0;
  llvm::MapVector<mlir::Value, BatchDim> places;

  friend class BatchTracer;
};

} // namespace braid

#endif // BRAID_PASSES_GRAPH_BATCHDIMS_H
