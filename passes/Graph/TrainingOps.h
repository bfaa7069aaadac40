//===- TrainingOps.h - ops that are something else in inference -*- C++ -*-===//
#ifndef BRAID_PASSES_GRAPH_TRAININGOPS_H
#define BRAID_PASSES_GRAPH_TRAININGOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Replaces dropout and the like by what they are in inference.
void removeTrainingOps(mlir::func::FuncOp function);

} // namespace braid

#endif // BRAID_PASSES_GRAPH_TRAININGOPS_H
