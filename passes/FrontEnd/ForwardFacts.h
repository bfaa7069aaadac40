//===- ForwardFacts.h - facts of a model's ops ------------------*- C++ -*-===//
#ifndef BRAID_PASSES_FRONTEND_FORWARDFACTS_H
#define BRAID_PASSES_FRONTEND_FORWARDFACTS_H

#include "dialects/TG/Facts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Returns the unit of each op of a function of one block. It is the unit of the first parameter that the op reads,
/// directly or through values of parameters alone. Otherwise it is, among the units of the op's operands, the one that
/// the function reaches last. Ops of the root unit, and ops that read only inputs, map to null.
llvm::DenseMap<mlir::Operation *, mlir::StringAttr> unitsOfOps(mlir::func::FuncOp function);

/// Gives an op a phase and a unit; a null unit is the root unit.
void setFacts(mlir::Operation *op, tg::Phase phase, mlir::StringAttr unit);

/// Marks every op as forward and gives it its unit. If the function updates its parameters itself, marks as update the
/// ops that the loss does not depend on. Also marks the elementwise producers of running statistics.
void setForwardFacts(mlir::func::FuncOp function);

/// Gives the new values of parameters and states the facts of their arguments.
void setFactsOfUpdates(mlir::func::FuncOp function);

} // namespace braid

#endif // BRAID_PASSES_FRONTEND_FORWARDFACTS_H
