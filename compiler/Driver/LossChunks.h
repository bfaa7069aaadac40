//===- LossChunks.h - chooses the chunks of the loss ------------*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_LOSSCHUNKS_H
#define BRAID_COMPILER_DRIVER_LOSSCHUNKS_H

#include "compiler/Driver/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace braid {

/// Returns whether memory plans choose the number of rows.
bool choosesLossChunk(const DriverOptions &options);

/// Refuses options that contradict --loss-chunk.
llvm::Error checkLossChunk(const DriverOptions &options);

/// Chooses the rows of --loss-chunk=auto by planning `module`, in which composites are whole. With a memory limit,
/// chooses the fewest chunks that keep it; without one, the fewest whose arena is hardly larger than the smallest.
/// Fails with a message if the user asked for auto and the loss has no rows. By default only large logits are chunked:
/// for a GPU if the arena would not fit its memory, for a CPU if the saved memory is worth the time.
mlir::FailureOr<LossChunk> chooseLossChunk(mlir::ModuleOp module, const DriverOptions &options);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_LOSSCHUNKS_H
