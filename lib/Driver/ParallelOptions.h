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

/// The options that shape programs, each with its value, in order.
std::vector<std::string> optionsOfPrograms(const DriverOptions &options);

/// The first option that was given and shapes a plan; empty for none.
llvm::StringRef optionOfPlan(const DriverOptions &options);

/// The options for one stage in a comparison of all stages, without those that do not
/// apply to it.
DriverOptions optionsOfStage(const DriverOptions &options, int64_t zero);

/// Every way to write `ranks` as a product of stages, parts of the batch, of experts where there are any, of
/// the sequence and of weights, without axes of one rank.
std::vector<std::vector<MeshAxis>> meshesOf(int64_t ranks, bool hasExperts);

/// The options for one mesh in a comparison of all, without those that do not apply to it, and the stages of
/// ZeRO that are options on it; none where it has no axis that they shard over.
DriverOptions optionsOfMesh(const DriverOptions &options, llvm::ArrayRef<MeshAxis> mesh, std::optional<int64_t> zero);
std::vector<std::optional<int64_t>> stagesOnMesh(llvm::ArrayRef<MeshAxis> mesh);

/// `dp=2,tp=2`, as --mesh says it.
std::string meshText(llvm::ArrayRef<MeshAxis> mesh);

/// The axes of the mesh over which the batch is sharded (dp, replica, shard, and that of
/// experts), and those over which ZeRO shards, with the sequence's: of dp, replica and shard
/// `shard` alone if it is there.
std::vector<std::string> batchAxes(const ParallelOptions &options);
std::vector<std::string> shardAxes(const ParallelOptions &options);

/// Drops --strategy=dataparallel where there is one rank, and else the axes of one rank: a root's programs know one
/// axis.
void useRoot(ParallelOptions &options);

/// How many ranks the axes span together.
int64_t numRanks(const ParallelOptions &options, llvm::ArrayRef<std::string> axes);

} // namespace braid

#endif // BRAID_LIB_DRIVER_PARALLELOPTIONS_H
