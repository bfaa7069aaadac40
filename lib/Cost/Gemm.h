//===- Gemm.h - seconds of GEMMs on GPUs -------------------------*- C++ -*-===//
//
// A table for each GPU, with the times that NVIDIA's model of its kernels predicts (bench/matmul_table.py). A point is
// a whole number of waves of 128 x 128 tiles (one tile per multiprocessor), a ratio of rows to columns, and a k.
// Seconds are linear in waves, in k, and in the logarithm of the ratio. A partial last wave counts as a whole one,
// unless k is long enough to split.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_COST_GEMM_H
#define BRAID_LIB_COST_GEMM_H

#include "dialects/TG/Attributes.h"
#include "lib/Target/TargetInfo.h"

namespace braid {

/// `items` products of m x k by k x n.
struct GemmSizes {
  int64_t m = 1, n = 1, k = 1, items = 1;

  static GemmSizes of(tg::ContractionAttr contraction, mlir::RankedTensorType lhs, mlir::RankedTensorType rhs);
  double flops() const { return 2.0 * m * n * k * items; }
};

/// Types of operands and result: bf16, bf16 with a result in f32, or f32.
enum class GemmType { Half, HalfToFloat, Float };

GemmType gemmTypeOf(mlir::Type operand, mlir::Type result);

/// Returns the seconds of a GEMM with its launch. Each GPU of lib/Target has a table.
double gemmSeconds(const GpuInfo &gpu, GemmType type, const GemmSizes &sizes);

} // namespace braid

#endif // BRAID_LIB_COST_GEMM_H
