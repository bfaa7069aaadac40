//===- Preparation.h - prepares a program for buffer assignment -*- C++ -*-===//
//
// Before buffer assignment (BufferAssignment.h), a program is brought into a form in which
// every value has a writer and every reader accepts the strides of its operands. Dead values
// are erased. Constants and the zeros of accumulators are computed next to their uses. Views
// that no strides express, or whose strides a reader does not accept, are copied.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_PREPARATION_H
#define BRAID_LIB_MEMORY_PREPARATION_H

#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Builds a kernel that copies `source`, on values, as buffer assignment needs where values cannot share memory.
mlir::Value buildCopy(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source);
/// Builds a kernel that writes `element` everywhere, on values.
mlir::Value buildFill(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                      mlir::TypedAttr element);

/// Prepares the program. Fails with a message if an op is not an action, view or concat, or
/// if no kernel can write a constant.
mlir::LogicalResult prepareForBufferAssignment(mlir::func::FuncOp program);

} // namespace braid

#endif // BRAID_LIB_MEMORY_PREPARATION_H
