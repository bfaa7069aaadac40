//===- PlannedBytes.cpp - arena size without a plan -----------------------===//

#include "lib/Memory/PlannedBytes.h"
#include "lib/Memory/Placement.h"

using namespace mlir;
using namespace braid;

FailureOr<UnplacedPrograms> UnplacedPrograms::read(ModuleOp module, int64_t rowAlignment, const TargetInfo &target) {
  UnplacedPrograms read(module, target);
  read.programs = llvm::to_vector(read.copy->getOps<func::FuncOp>());
  FailureOr<PersistentTensors> tensors = PersistentTensors::collect(read.programs, target.alignment, rowAlignment);
  if (failed(tensors))
    return failure();
  read.tensors = std::move(*tensors);
  for (func::FuncOp program : read.programs) {
    FailureOr<Places> places = assignBuffers(program, rowAlignment);
    if (failed(places))
      return failure();
    read.places.push_back(std::move(*places));
  }
  return read;
}

/// Returns the buffers of a program; the scratch memory of calls comes first.
static PlacementProblem problemOf(const Places &places, int64_t workspace, const TargetInfo &target) {
  PlacementProblem problem;
  problem.alignment = target.alignment;
  for (const LiveBuffer &buffer : liveBuffers(places, workspace, target))
    if (buffer.isAtBase)
      problem.buffers.push_back({workspace, buffer.users.front(), buffer.users.back(), /*fixed=*/0});
  for (const Storage &storage : places.storages) {
    bool isUnused = storage.kind == Storage::Kind::Transient && !storage.writer;
    if (storage.kind != Storage::Kind::Persistent && !storage.isOnHost && !isUnused)
      problem.buffers.push_back({storage.bytes, storage.first, storage.last, {}});
  }
  return problem;
}

FailureOr<int64_t> UnplacedPrograms::arenaBytes(int64_t workspace) const {
  int64_t bytes = 0;
  for (auto [program, programPlaces] : llvm::zip(programs, places)) {
    PlacementProblem problem = problemOf(programPlaces, workspace, *target);
    if (llvm::Error error = check(problem)) {
      func::FuncOp(program).emitError() << "placing buffers: " << llvm::toString(std::move(error));
      return failure();
    }
    bytes = std::max(bytes, tensors.bytesBelow(program, target->alignment) + solve(problem).bytes);
  }
  return bytes;
}
