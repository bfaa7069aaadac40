//===- CheckGraph.h - whether a module is a training graph ------*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_CHECKGRAPH_H
#define BRAID_LIB_DRIVER_CHECKGRAPH_H

#include "lib/Driver/Options.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// A graph is one function with a loss, and the mesh divides its batch and its sequence; what is wrong with its parts,
/// the passes say.
mlir::LogicalResult checkGraph(mlir::ModuleOp module, const DriverOptions &options);

/// Every microbatch of every rank has as many rows, and each rank as many of their tokens.
mlir::LogicalResult checkInputs(mlir::func::FuncOp model, const DriverOptions &options);

} // namespace braid

#endif // BRAID_LIB_DRIVER_CHECKGRAPH_H
