//===- OrderVerifier.h - does any rank wait for ever? -----------*- C++ -*-===//
#ifndef BRAID_LIB_SCHEDULE_ORDERVERIFIER_H
#define BRAID_LIB_SCHEDULE_ORDERVERIFIER_H

#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// Emits an error where the ranks of a program do not all come to its end: where
/// they wait for one another, have nothing to meet with, or meet and disagree.
mlir::LogicalResult verifyOrder(mlir::ModuleOp module);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_ORDERVERIFIER_H
