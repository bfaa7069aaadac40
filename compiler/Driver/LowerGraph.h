//===- LowerGraph.h - lowers a graph to the level of --emit -----*- C++ -*-===//
//
// Runs the phases. Between them, plans choose the chunks of the loss and the values that backward computes again.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_DRIVER_LOWERGRAPH_H
#define BRAID_COMPILER_DRIVER_LOWERGRAPH_H

#include "compiler/Driver/Pipeline.h"

namespace braid {

/// Lowers `module`. Returns the replays that --recompute=auto chose from.
mlir::FailureOr<std::vector<ReplayReport>> lowerGraph(mlir::ModuleOp module, DriverOptions options, PhaseClock &clock);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_LOWERGRAPH_H
