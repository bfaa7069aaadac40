//===- MatmulMarks.h - how a matmul calls the GEMM library ------*- C++ -*-===//
#ifndef BRAID_DIALECTS_EXEC_MATMULMARKS_H
#define BRAID_DIALECTS_EXEC_MATMULMARKS_H

#include "llvm/ADT/StringRef.h"

namespace braid::exec {

/// The right operand of the GEMM is copied into panels before the product.
constexpr llvm::StringLiteral kPanels = "exec.panels";

/// A second call computes the last rows of the GEMM, or its last columns; the attribute is their number.
constexpr llvm::StringLiteral kRowsApart = "exec.rows_apart", kColumnsApart = "exec.columns_apart";

} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_MATMULMARKS_H
