//===- BatchDims.h - where the batch is in every value ----------*- C++ -*-===//
//
// The batch starts at dim 0 of the inputs whose role says so and follows the
// factors of the ops' sharding rules, forwards and backwards, to every value
// that has it.  A value has it in one dim, possibly between others that a
// reshape joined to it: a dim of size outer * batch * inner.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_GRAPH_BATCHDIMS_H
#define BRAID_PASSES_GRAPH_BATCHDIMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace braid {

struct BatchDim {
  unsigned dim;
  int64_t inner; ///< The elements of the dim that one row of the batch spans.

  bool operator==(const BatchDim &other) const { return dim == other.dim && inner == other.inner; }
  bool operator!=(const BatchDim &other) const { return !(*this == other); }
};

class BatchDims {
public:
  /// Finds the batch; an error names the op where it cannot be followed.  Gives
  /// each use of a constant its own copy on the way.
  static mlir::FailureOr<BatchDims> find(mlir::func::FuncOp function);

  /// The size of the batch.
  int64_t size() const { return batch; }
  /// Where the batch is in `value`; none for a value that has no batch.
  std::optional<BatchDim> of(mlir::Value value) const;
  /// Whether `op` reads the batch and makes a result without it: whether it
  /// mixes examples.
  bool endsAt(mlir::Operation *op) const;

  /// Gives the batch another size in all types and constants of `function`.
  mlir::LogicalResult resize(mlir::func::FuncOp function, int64_t newBatch) const;

private:
  int64_t batch = 0;
  llvm::MapVector<mlir::Value, BatchDim> places;

  friend class BatchTracer;
};

} // namespace braid

#endif // BRAID_PASSES_GRAPH_BATCHDIMS_H
