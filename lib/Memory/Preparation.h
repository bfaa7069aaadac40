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

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Prepares the program. Fails with a message if an op is not an action, view or concat, or
/// if no kernel can write a constant.
mlir::LogicalResult prepareForBufferAssignment(mlir::func::FuncOp program);

} // namespace braid

#endif // BRAID_LIB_MEMORY_PREPARATION_H
