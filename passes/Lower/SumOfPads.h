//===- SumOfPads.h - gradients of slices, put together ----------*- C++ -*-===//
#ifndef BRAID_PASSES_LOWER_SUMOFPADS_H
#define BRAID_PASSES_LOWER_SUMOFPADS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Rewrites sums of zero-padded tensors that do not overlap as one concat: the
/// gradient of a tensor that was used in slices.
void mergeSumsOfPads(mlir::func::FuncOp function);

} // namespace braid

#endif // BRAID_PASSES_LOWER_SUMOFPADS_H
