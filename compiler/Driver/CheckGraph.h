//===- CheckGraph.h - checks that a module is a training graph --*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_CHECKGRAPH_H
#define BRAID_COMPILER_DRIVER_CHECKGRAPH_H

#include "compiler/Driver/Options.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// Checks that `module` has one function with a loss, which can follow the options, and that the mesh divides its batch
/// and its sequence. Passes report other errors in the graph.
mlir::LogicalResult checkGraph(mlir::ModuleOp module, const DriverOptions &options);

/// Checks that all microbatches of all ranks get the same number of rows, and all ranks the same number of tokens of a
/// row.
mlir::LogicalResult checkInputs(mlir::func::FuncOp model, const DriverOptions &options);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_CHECKGRAPH_H
