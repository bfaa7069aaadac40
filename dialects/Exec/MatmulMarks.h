//===- MatmulMarks.h - how a matmul calls the GEMM library ------*- C++ -*-===//
#ifndef BRAID_DIALECTS_EXEC_MATMULMARKS_H
#define BRAID_DIALECTS_EXEC_MATMULMARKS_H

#include "llvm/ADT/StringRef.h"

namespace braid::exec {

/// Attribute: the right operand of the GEMM is copied into panels before the product.
constexpr llvm::StringLiteral kPanels = "exec.panels";

/// Attributes: a second call computes this many of the last rows, or of the last columns, of the GEMM.
constexpr llvm::StringLiteral kRowsApart = "exec.rows_apart", kColumnsApart = "exec.columns_apart";

} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_MATMULMARKS_H
