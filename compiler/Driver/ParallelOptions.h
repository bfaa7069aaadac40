//===- ParallelOptions.h - parses and checks options of ranks ---*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_PARALLELOPTIONS_H
#define BRAID_COMPILER_DRIVER_PARALLELOPTIONS_H

#include "compiler/Driver/Options.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace braid {

/// Largest number of ranks of a mesh.
inline constexpr int64_t kMaxMeshRanks = 1 << 20;

/// Parses the mesh. Refuses options that contradict each other or that need another option; the message names both.
llvm::Error resolveParallelOptions(DriverOptions &options);

/// Returns the options that shape programs, each with its value, in order.
std::vector<std::string> optionsOfPrograms(const DriverOptions &options);

/// Returns the first given option that shapes a plan; empty if there is none.
llvm::StringRef firstPlanOption(const DriverOptions &options);

/// Returns the options for one stage in a comparison of all stages of ZeRO, without the options that do not apply to
/// this stage.
DriverOptions optionsOfStage(const DriverOptions &options, int64_t zero);

/// Returns every factorization of `ranks` into stages, parts of the batch, of experts (if the model has any), of the
/// sequence and of weights, without axes of one rank.
std::vector<std::vector<MeshAxis>> meshesOf(int64_t ranks, bool hasExperts);

/// `optionsOfMesh` returns the options for one mesh in a comparison of all meshes, without the options that do not
/// apply to it. `stagesOnMesh` returns the stages of ZeRO to compare on a mesh; none if ZeRO has no axis to shard over.
DriverOptions optionsOfMesh(const DriverOptions &options, llvm::ArrayRef<MeshAxis> mesh, std::optional<int64_t> zero);
std::vector<std::optional<int64_t>> stagesOnMesh(llvm::ArrayRef<MeshAxis> mesh);

/// Returns the mesh in the syntax of --mesh: `dp=2,tp=2`.
std::string meshText(llvm::ArrayRef<MeshAxis> mesh);

/// `batchAxes` returns the axes that shard the batch: dp, replica, shard, and that of experts. `shardAxes` returns the
/// axes that ZeRO shards over, with those of the sequence: of dp, replica and shard only `shard` if it exists.
std::vector<std::string> batchAxes(const ParallelOptions &options);
std::vector<std::string> shardAxes(const ParallelOptions &options);

/// Drops --strategy=dataparallel if there is one rank. Else drops the axes of one rank, because programs of a root have
/// a single axis.
void applyRootStrategy(ParallelOptions &options);

/// Returns the number of ranks that the axes span together.
int64_t numRanks(const ParallelOptions &options, llvm::ArrayRef<std::string> axes);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_PARALLELOPTIONS_H
