//===- AssignedCopy.h - a program's memory before it is planned -*- C++ -*-===//
//
// Buffer assignment inserts copies and constants.  Who only asks what a program would hold assigns
// the buffers of a copy.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_ASSIGNEDCOPY_H
#define BRAID_LIB_MEMORY_ASSIGNEDCOPY_H

#include "lib/Memory/BufferAssignment.h"
#include "lib/Schedule/LiveBytes.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/IR/OwningOpRef.h"

namespace braid {

struct AssignedCopy {
  mlir::OwningOpRef<mlir::func::FuncOp> program;
  Places places;
  /// What it holds beside persistent tensors.
  std::vector<LiveBuffer> buffers;
  /// For each action in `places`, the one of the program that was copied; null for one that
  /// assignment has added.
  llvm::SmallVector<mlir::Operation *> originals;
};

/// Assigns buffers, without padding, in a copy of `program`.
mlir::FailureOr<AssignedCopy> copyAndAssign(mlir::func::FuncOp program, const TargetInfo &target);

/// The most bytes that are live at one time, beside what is persistent.
mlir::FailureOr<int64_t> transientPeak(mlir::func::FuncOp program, const TargetInfo &target);

} // namespace braid

#endif // BRAID_LIB_MEMORY_ASSIGNEDCOPY_H
