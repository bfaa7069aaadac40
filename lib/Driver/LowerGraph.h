//===- LowerGraph.h - lowers a graph to the level of --emit -----*- C++ -*-===//
//
// Runs the phases. Between them, plans choose the chunks of the loss and the values that backward computes again.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_DRIVER_LOWERGRAPH_H
#define BRAID_LIB_DRIVER_LOWERGRAPH_H

#include "lib/Driver/Options.h"
#include "lib/Driver/Pipeline.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// Lowers `module`. Writes the choices to `options`, and to `replays` those that --recompute=auto chose from.
mlir::LogicalResult lowerGraph(mlir::ModuleOp module, DriverOptions &options, PhaseClock &clock,
                               std::vector<ReplayReport> &replays);

} // namespace braid

#endif // BRAID_LIB_DRIVER_LOWERGRAPH_H
