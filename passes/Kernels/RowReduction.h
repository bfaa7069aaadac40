//===- RowReduction.h - reductions as kernels -------------------*- C++ -*-===//
#ifndef BRAID_PASSES_KERNELS_ROWREDUCTION_H
#define BRAID_PASSES_KERNELS_ROWREDUCTION_H

#include "dialects/TG/TG.h"
#include "mlir/IR/Builders.h"

namespace braid {

/// Returns the tensor in memory that a reduction reads. A reduction to f32 reads bf16 directly.
mlir::Value reducedTensor(tg::ReduceOp reduce);

/// Builds the kernels of a reduction. Splits reduced rows into about `blocks` blocks that run in parallel.
mlir::Value formReduction(mlir::OpBuilder &builder, tg::ReduceOp reduce, int64_t blocks);

} // namespace braid

#endif // BRAID_PASSES_KERNELS_ROWREDUCTION_H
