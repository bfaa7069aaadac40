//===- Assignment.h - a buffer assignment on a function ---------*- C++ -*-===//
//
// A function on values whose buffers are assigned says so as `exec.assignment`, which
// lib/Memory/RecordedAssignment.h writes and reads:
//
//   storages    the bytes of each storage beside those of arguments, and how many of them
//               pad rows
//   places      for each result of an action or concat, in block order, its storage, offset and
//               strides; storages are numbered from those of arguments on
//   live_bytes  the most bytes that are live at one time, persistent ones included
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_EXEC_ASSIGNMENT_H
#define BRAID_DIALECTS_EXEC_ASSIGNMENT_H

#include "mlir/IR/Operation.h"

namespace braid::exec {

inline constexpr llvm::StringLiteral kAssignment = "exec.assignment";

llvm::LogicalResult verifyAssignment(mlir::Operation *op, mlir::Attribute attribute);

} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_ASSIGNMENT_H
