//===- CompareMeshes.h - what each mesh of as many ranks costs --*- C++ -*-===//
//
// Every way to write the ranks as stages, parts of the batch, of the sequence and of weights, with each stage
// of ZeRO: planned as a compilation with these options would, side by side, the fastest first.  What cannot be
// has the error of that compilation.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_DRIVER_COMPAREMESHES_H
#define BRAID_LIB_DRIVER_COMPAREMESHES_H

#include "lib/Driver/Options.h"
#include "lib/Driver/Pipeline.h"
#include <string>
#include <vector>

namespace braid {

struct ComparedMesh {
  std::string mesh;
  /// None where there is nothing that ZeRO shards over.
  std::optional<int64_t> zero;
  /// Of the largest rank, and of the one that sends most; seconds of a step as predicted.
  int64_t arenaBytes = 0, movedBytes = 0;
  double seconds = 0;
};

struct RefusedMesh {
  std::string mesh;
  /// Those with the same reason.
  std::vector<std::optional<int64_t>> stages;
  std::string reason;
};

struct MeshComparison {
  int64_t ranks = 0, microbatches = 0;
  size_t numCandidates = 0;
  std::optional<int64_t> memoryLimit;
  /// By their predicted step.
  std::vector<ComparedMesh> meshes;
  std::vector<RefusedMesh> refused;

  bool fits(const ComparedMesh &mesh) const { return !memoryLimit || mesh.arenaBytes <= *memoryLimit; }
};

/// `module` is a graph, of which copies are planned; a memory limit is not kept, but compared with.
MeshComparison compareMeshes(mlir::ModuleOp module, const DriverOptions &options, PhaseClock &clock);

/// Those that do not fit come last.
void printComparison(llvm::raw_ostream &stream, const MeshComparison &comparison);
std::string comparisonJson(const MeshComparison &comparison);

} // namespace braid

#endif // BRAID_LIB_DRIVER_COMPAREMESHES_H
