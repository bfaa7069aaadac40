//===- CompareMeshes.h - cost of each mesh of as many ranks -----*- C++ -*-===//
//
// Plans every mesh of the given number of ranks (stages, parts of the batch, of the sequence and of weights) with every
// stage of ZeRO. Each plan equals that of a compilation with these options. Lists the meshes side by side, the fastest
// first; a mesh without a plan shows the error of its compilation.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_DRIVER_COMPAREMESHES_H
#define BRAID_COMPILER_DRIVER_COMPAREMESHES_H

#include "compiler/Driver/Options.h"
#include "compiler/Driver/Pipeline.h"
#include <string>
#include <vector>

namespace braid {

struct ComparedMesh {
  std::string mesh;
  /// Stage of ZeRO, or none if the mesh has no axis for ZeRO to shard over.
  std::optional<int64_t> zero;
  /// Arena bytes of the rank with the largest arena, bytes sent by the rank that sends most, and predicted seconds of a
  /// step.
  int64_t arenaBytes = 0, movedBytes = 0;
  double seconds = 0;
};

struct RefusedMesh {
  std::string mesh;
  /// Stages of ZeRO that were refused on this mesh for the same reason.
  std::vector<std::optional<int64_t>> stages;
  std::string reason;
};

struct MeshComparison {
  int64_t ranks = 0, microbatches = 0;
  size_t numCandidates = 0;
  std::optional<int64_t> memoryLimit;
  /// Planned meshes, in order of their predicted step time.
  std::vector<ComparedMesh> meshes;
  std::vector<RefusedMesh> refused;

  bool fits(const ComparedMesh &mesh) const { return !memoryLimit || mesh.arenaBytes <= *memoryLimit; }
};

/// Compares the meshes for the graph `module` by planning copies of it. Plans may exceed a memory limit: the comparison
/// only says which ones do.
MeshComparison compareMeshes(mlir::ModuleOp module, const DriverOptions &options, PhaseClock &clock);

/// Prints the meshes as a table. Meshes that do not fit come last.
void printComparison(llvm::raw_ostream &stream, const MeshComparison &comparison);
std::string comparisonJson(const MeshComparison &comparison);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_COMPAREMESHES_H
