//===- Panels.h - operands in the layout of the GEMM library ----*- C++ -*-===//
#ifndef BRAID_DIALECTS_EXEC_PANELS_H
#define BRAID_DIALECTS_EXEC_PANELS_H

#include "llvm/ADT/StringRef.h"

namespace braid::exec {

/// On a matmul: the right operand of its GEMM is copied into panels before the product.
constexpr llvm::StringLiteral kPanels = "exec.panels";

} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_PANELS_H
