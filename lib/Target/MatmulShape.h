//===- MatmulShape.h - an einsum over strided tensors as a GEMM -*- C++ -*-===//
//
// Sorts the letters of a contraction into one m, one n and one k dimension with strides,
// loops over independent matrices, and contraction loops that do not collapse into k.
// Fails with a reason if no GEMM library could run it (no stride of 1 in a matrix).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_TARGET_MATMULSHAPE_H
#define BRAID_LIB_TARGET_MATMULSHAPE_H

#include "dialects/Exec/Exec.h"
#include "llvm/ADT/SmallVector.h"

namespace braid {

/// One loop around the matrices; strides in elements, 0 in a tensor without the letter.
struct MatmulLoop {
  int64_t size, lhs, rhs, out, addend;
};

struct MatmulShape {
  int64_t m = 1, n = 1, k = 1;
  int64_t lhsM = 0, lhsK = 0, rhsK = 0, rhsN = 0, outM = 0, outN = 0;
  /// Strides of the addend of the product; those of the result without one.
  int64_t addendM = 0, addendN = 0;
  /// Whether the roles were exchanged so that n has stride 1 in the result: the GEMM's
  /// left operand is then `rhs` of the op.
  bool swapped = false;
  llvm::SmallVector<MatmulLoop> batch, outer;
};

/// Returns the GEMM of `contraction` over these references; sets `reason` if there is none.
mlir::FailureOr<MatmulShape> matmulShape(tg::ContractionAttr contraction, exec::RefType lhs, exec::RefType rhs,
                                         exec::RefType out, std::string *reason = nullptr);

/// Returns the GEMM of an action in memory form.
mlir::FailureOr<MatmulShape> matmulShape(exec::MatmulOp matmul, std::string *reason = nullptr);

} // namespace braid

#endif // BRAID_LIB_TARGET_MATMULSHAPE_H
