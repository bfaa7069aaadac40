//===- PlanVerifier.h - is a module in memory form sound? -------*- C++ -*-===//
//
// Knows nothing of how the plan was made: it reads the ops only.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_PLANVERIFIER_H
#define BRAID_LIB_MEMORY_PLANVERIFIER_H

#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// Emits an error where persistent tensors and buffers overlap, leave the arena
/// or are not aligned; where an access leaves its buffer's life; where bytes are
/// read that nothing has written; where an action overwrites its own operand
/// without saying that it may, or reads strided memory that it does not take; where
/// what an action under way reads is written, or what it writes is touched, before
/// its end.
mlir::LogicalResult verifyPlan(mlir::ModuleOp module, int64_t alignment);

} // namespace braid

#endif // BRAID_LIB_MEMORY_PLANVERIFIER_H
