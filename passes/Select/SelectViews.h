//===- SelectViews.h - data movement as views -------------------*- C++ -*-===//
#ifndef BRAID_PASSES_SELECT_SELECTVIEWS_H
#define BRAID_PASSES_SELECT_SELECTVIEWS_H

#include "dialects/Exec/Views.h"
#include "mlir/IR/Builders.h"

namespace braid {

/// Returns a view of `value` at other coordinates: those of `at`, in the row-major order of `value`. First copies
/// `value` if no view can express them.
mlir::Value createView(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::RankedTensorType type,
                       const exec::ViewCoordinates &at);

/// Returns `value` with dims permuted: result dim i is dim `permutation[i]`.
mlir::Value transposed(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                       llvm::ArrayRef<int64_t> permutation);

/// Returns a broadcast as a view with strides of 0 if its source is in memory; returns other values unchanged.
mlir::Value broadcastAsView(mlir::OpBuilder &builder, mlir::Value value);

/// Returns the view that replaces a movement op, or null for other ops.
mlir::Value selectView(mlir::OpBuilder &builder, mlir::Operation *op);

} // namespace braid

#endif // BRAID_PASSES_SELECT_SELECTVIEWS_H
