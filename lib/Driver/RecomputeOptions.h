//===- RecomputeOptions.h - what --recompute stands for ---------*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_RECOMPUTEOPTIONS_H
#define BRAID_LIB_DRIVER_RECOMPUTEOPTIONS_H

#include "lib/Driver/Frontier.h"
#include "llvm/Support/Error.h"

namespace braid {

/// Whether `--memory-limit` alone asks for replays where nothing else keeps the limit.
bool recomputesForLimit(const DriverOptions &options);

/// Refuses what does not go together.
llvm::Error checkRecomputeOptions(const DriverOptions &options);

/// Settles what auto stands for in `options`, by the plans of all that it could be for `module`,
/// whose composites are decomposed; remarks on what it costs.  Where nothing keeps the budget it is
/// the smallest, which the planner refuses.
mlir::FailureOr<Frontier> chooseReplays(mlir::ModuleOp module, DriverOptions &options);

} // namespace braid

#endif // BRAID_LIB_DRIVER_RECOMPUTEOPTIONS_H
