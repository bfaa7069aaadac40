//===- OrderVerifier.h - do the ranks of a program deadlock? ----*- C++ -*-===//
#ifndef BRAID_LIB_SCHEDULE_ORDERVERIFIER_H
#define BRAID_LIB_SCHEDULE_ORDERVERIFIER_H

#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// Emits an error where the ranks of a program deadlock: where they wait for one
/// another, have no matching communication, or do not issue the same one.
mlir::LogicalResult verifyOrder(mlir::ModuleOp module);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_ORDERVERIFIER_H
