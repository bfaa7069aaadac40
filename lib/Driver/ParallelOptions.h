//===- ParallelOptions.h - what was said of ranks, understood ---*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_PARALLELOPTIONS_H
#define BRAID_LIB_DRIVER_PARALLELOPTIONS_H

#include "lib/Driver/Options.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace braid {

/// Reads the mesh, and refuses options that have no meaning without another one or
/// that contradict each other: both are named.
llvm::Error resolveParallelOptions(DriverOptions &options);

/// The first option that was given and shapes a plan; empty for none.
llvm::StringRef optionOfPlan(const DriverOptions &options);

/// The options for one stage in a comparison of all stages, without those that do not
/// apply to it.
DriverOptions optionsOfStage(const DriverOptions &options, int64_t zero);

/// The axes of the mesh over which the batch is sharded (dp, replica, shard, and that of
/// experts), and those over which ZeRO shards, with the sequence's: of dp, replica and shard
/// `shard` alone if it is there.
std::vector<std::string> batchAxes(const ParallelOptions &options);
std::vector<std::string> shardAxes(const ParallelOptions &options);

/// How many ranks the axes span together.
int64_t numRanks(const ParallelOptions &options, llvm::ArrayRef<std::string> axes);

} // namespace braid

#endif // BRAID_LIB_DRIVER_PARALLELOPTIONS_H
