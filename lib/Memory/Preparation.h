//===- Preparation.h - a program that can be placed -------------*- C++ -*-===//
//
// Before values share memory (Places.h), a program is brought into a form in which
// every value has a writer and every reader can take what it reads: what nobody reads
// is erased, constants and accumulators' zeros are made where they are used, and what
// has no strides, or strides that its reader does not take, is copied.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_PREPARATION_H
#define BRAID_LIB_MEMORY_PREPARATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Fails, with a message, where an op is no action, view or concat, and where a
/// constant has no kernel that could write it.
mlir::LogicalResult prepareForPlacing(mlir::func::FuncOp program);

} // namespace braid

#endif // BRAID_LIB_MEMORY_PREPARATION_H
