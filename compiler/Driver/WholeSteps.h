//===- WholeSteps.h - graphs that update their parameters -------*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_WHOLESTEPS_H
#define BRAID_COMPILER_DRIVER_WHOLESTEPS_H

#include "compiler/Driver/Options.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Returns whether a graph is a whole training step: it has its own gradients and optimizer, and returns the new values
/// of its parameters.
bool isWholeStep(mlir::func::FuncOp model);

/// Refuses options that a whole step cannot follow, such as those of the optimizer. Other graphs may have any option.
mlir::LogicalResult checkWholeStep(mlir::func::FuncOp model, const DriverOptions &options);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_WHOLESTEPS_H
