//===- AssignedCopy.h - buffer assignment of a program's copy ---*- C++ -*-===//
//
// Buffer assignment inserts copies and constants. Code that only needs to know what a program
// would hold assigns the buffers of a copy.
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
  /// Buffers of the program, without persistent tensors.
  std::vector<LiveBuffer> buffers;
  /// For each action in `places`, the original action in the copied program; null for an
  /// action that assignment has added.
  llvm::SmallVector<mlir::Operation *> originals;
};

/// Copies `program` and assigns the buffers of the copy, without padding.
mlir::FailureOr<AssignedCopy> copyAndAssign(mlir::func::FuncOp program, const TargetInfo &target);

/// Returns the peak of live bytes, without persistent tensors.
mlir::FailureOr<int64_t> transientPeak(mlir::func::FuncOp program, const TargetInfo &target);

} // namespace braid

#endif // BRAID_LIB_MEMORY_ASSIGNEDCOPY_H
