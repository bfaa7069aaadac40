//===- Preparation.h - prepares a program for buffer assignment -*- C++ -*-===//
//
// Before buffer assignment (BufferAssignment.h), a program is brought into a form in which
// every value has a writer and every reader accepts the strides of its operands: dead values
// are erased, constants and the zeros of accumulators are computed next to their uses, and
// views that no strides express, or whose strides a reader does not accept, are copied.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_PREPARATION_H
#define BRAID_LIB_MEMORY_PREPARATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Fails, with a message, if an op is no action, view or concat, or if no kernel can write a
/// constant.
mlir::LogicalResult prepareForBufferAssignment(mlir::func::FuncOp program);

} // namespace braid

#endif // BRAID_LIB_MEMORY_PREPARATION_H
