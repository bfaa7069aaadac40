//===- RecordedAssignment.h - buffer assignment from pass to pass -*- C++ -*-===//
//
// Buffers are assigned before communication is scheduled, because the schedule depends on
// which values share memory. They are placed after it. In between, the function carries
// the assignment (dialects/Exec/Assignment.h).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_RECORDEDASSIGNMENT_H
#define BRAID_LIB_MEMORY_RECORDEDASSIGNMENT_H

#include "dialects/Exec/Assignment.h"
#include "lib/Memory/BufferAssignment.h"

namespace braid {

/// Writes the places of all values of `program`, in its present order, as an attribute.
void recordAssignment(mlir::func::FuncOp program, const Places &places, int64_t liveBytes);

/// Reads them back, with the lifetimes that follow from the present order. Fails if the
/// program's values are no longer those that were assigned.
mlir::FailureOr<Places> readAssignment(mlir::func::FuncOp program);

/// Returns the recorded live bytes; no value without an assignment.
std::optional<int64_t> recordedLiveBytes(mlir::func::FuncOp program);

} // namespace braid

#endif // BRAID_LIB_MEMORY_RECORDEDASSIGNMENT_H
