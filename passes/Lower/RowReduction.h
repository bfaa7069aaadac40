//===- RowReduction.h - reductions as kernels -------------------*- C++ -*-===//
#ifndef BRAID_PASSES_LOWER_ROWREDUCTION_H
#define BRAID_PASSES_LOWER_ROWREDUCTION_H

#include "dialects/TG/TG.h"
#include "mlir/IR/Builders.h"

namespace braid {

/// The tensor in memory that a reduction reads: bf16 that it reads as f32 is not widened there.
mlir::Value reducedTensor(tg::ReduceOp reduce);

/// Kernels that compute a reduction.  Reduced rows are split into about `blocks`
/// blocks that run in parallel.
mlir::Value formReduction(mlir::OpBuilder &builder, tg::ReduceOp reduce, int64_t blocks);

} // namespace braid

#endif // BRAID_PASSES_LOWER_ROWREDUCTION_H
