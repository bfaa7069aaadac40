//===- SelectViews.h - movement of data as views ----------------*- C++ -*-===//
#ifndef BRAID_PASSES_LOWER_SELECTVIEWS_H
#define BRAID_PASSES_LOWER_SELECTVIEWS_H

#include "dialects/Exec/Views.h"
#include "mlir/IR/Builders.h"

namespace braid {

/// `value` seen at other coordinates: those of `at`, in the row-major order of
/// `value`.  Copies `value` first where views of it cannot express them.
mlir::Value createView(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::RankedTensorType type,
                       const exec::ViewCoordinates &at);

/// `value` with dims permuted: result dim i is dim `permutation[i]`.
mlir::Value transposed(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                       llvm::ArrayRef<int64_t> permutation);

/// A repeated tensor as a view with strides of 0, when its source is in memory;
/// other values are returned as they are.
mlir::Value broadcastAsView(mlir::OpBuilder &builder, mlir::Value value);

/// The view that replaces a movement op, or null for other ops.
mlir::Value selectView(mlir::OpBuilder &builder, mlir::Operation *op);

} // namespace braid

#endif // BRAID_PASSES_LOWER_SELECTVIEWS_H
