//===- RecomputeOptions.h - resolves --recompute ----------------*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_RECOMPUTEOPTIONS_H
#define BRAID_COMPILER_DRIVER_RECOMPUTEOPTIONS_H

#include "compiler/Driver/Frontier.h"
#include "llvm/Support/Error.h"

namespace braid {

/// Returns whether `--memory-limit` alone allows replays if the limit cannot be kept otherwise.
bool recomputesForLimit(const DriverOptions &options);

/// Refuses contradictory options.
llvm::Error checkRecomputeOptions(const DriverOptions &options);

/// Returns the size of the arena that --recompute=auto keeps, as the user wrote it.
const std::string &sizeOfBudget(const DriverOptions &options);

/// Plans all choices for `module`, in which composites are decomposed. Remarks on the cost of the best.
mlir::FailureOr<Frontier> chooseReplays(mlir::ModuleOp module, const DriverOptions &options);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_RECOMPUTEOPTIONS_H
