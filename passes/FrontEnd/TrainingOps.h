//===- TrainingOps.h - replace training-only ops ----------------*- C++ -*-===//
#ifndef BRAID_PASSES_FRONTEND_TRAININGOPS_H
#define BRAID_PASSES_FRONTEND_TRAININGOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Replaces dropout and similar ops by their inference behaviour.
void removeTrainingOps(mlir::func::FuncOp function);

} // namespace braid

#endif // BRAID_PASSES_FRONTEND_TRAININGOPS_H
