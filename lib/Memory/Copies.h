//===- Copies.h - kernels that copy or fill ---------------------*- C++ -*-===//
//
// Buffer assignment inserts these kernels if values cannot share memory.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_COPIES_H
#define BRAID_LIB_MEMORY_COPIES_H

#include "dialects/Exec/Exec.h"

namespace braid {

/// Builds a kernel that copies `source`, on values.
mlir::Value buildCopy(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source);
/// Builds a kernel that writes `element` everywhere, on values.
mlir::Value buildFill(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                      mlir::TypedAttr element);

} // namespace braid

#endif // BRAID_LIB_MEMORY_COPIES_H
