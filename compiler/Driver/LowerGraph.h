//===- LowerGraph.h - lowers a graph to the level of --emit -----*- C++ -*-===//
//
// Runs the phases. Between them, plans choose the chunks of the loss and the values that backward computes again.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_DRIVER_LOWERGRAPH_H
#define BRAID_COMPILER_DRIVER_LOWERGRAPH_H

#include "compiler/Driver/Options.h"
#include "compiler/Driver/Pipeline.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// Lowers `module`. Writes the choices to `options`, and to `replays` those that --recompute=auto chose from.
mlir::LogicalResult lowerGraph(mlir::ModuleOp module, DriverOptions &options, PhaseClock &clock,
                               std::vector<ReplayReport> &replays);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_LOWERGRAPH_H
