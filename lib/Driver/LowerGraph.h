//===- LowerGraph.h - a graph down to what was asked for --------*- C++ -*-===//
//
// The phases, and between them what is chosen by plans: the chunks of the loss, what backward computes again.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_DRIVER_LOWERGRAPH_H
#define BRAID_LIB_DRIVER_LOWERGRAPH_H

#include "lib/Driver/Options.h"
#include "lib/Driver/Pipeline.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// What is chosen stands in `options`; `replays` are those that --recompute=auto chose from.
mlir::LogicalResult lowerGraph(mlir::ModuleOp module, DriverOptions &options, PhaseClock &clock,
                               std::vector<ReplayReport> &replays);

} // namespace braid

#endif // BRAID_LIB_DRIVER_LOWERGRAPH_H
