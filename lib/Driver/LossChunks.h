//===- LossChunks.h - what --loss-chunk stands for --------------*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_LOSSCHUNKS_H
#define BRAID_LIB_DRIVER_LOSSCHUNKS_H

#include "lib/Driver/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace braid {

/// The rows of a chunk, of options that say or have chosen how many; 0 for all.
int64_t rowsOfLossChunk(const DriverOptions &options);

/// Whether memory plans choose them.
bool choosesLossChunk(const DriverOptions &options);

/// Refuses what does not go together.
llvm::Error checkLossChunk(const DriverOptions &options);

/// Settles what auto stands for in `options`, by plans of `module`, which has gone through the
/// phase `behind`: as few chunks as keep the memory limit, or without one as few as need hardly
/// more memory than any other number.  Fails, with a message, if the loss has no rows and auto was
/// asked for.  By default only large logits are chunked: for a GPU, if the arena would not fit its memory;
/// for a CPU, if the memory is worth the time.
mlir::LogicalResult chooseLossChunk(mlir::ModuleOp module, DriverOptions &options, llvm::StringRef behind);

} // namespace braid

#endif // BRAID_LIB_DRIVER_LOSSCHUNKS_H
