//===- Assignment.h - the buffer assignment of a function -------*- C++ -*-===//
//
// A function on values with assigned buffers has the attribute `exec.assignment`, which
// lib/Memory/RecordedAssignment.h writes and reads:
//
//   storages    the bytes of each storage, except those of arguments, and how many of these
//               bytes pad rows
//   places      for each result of an action or concat, in block order, its storage, offset and
//               strides; storage numbers start after those of arguments
//   live_bytes  the peak of live bytes, including persistent ones
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
