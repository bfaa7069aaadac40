//===- Meshes.cpp - the meshes of some ranks ------------------------------===//

#include "compiler/Driver/ParallelOptions.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace braid;

static void addMeshes(int64_t ranks, ArrayRef<StringLiteral> axes, std::vector<MeshAxis> &mesh,
                      std::vector<std::vector<MeshAxis>> &meshes) {
  if (axes.empty()) {
    if (ranks == 1)
      meshes.push_back(mesh);
    return;
  }
  for (int64_t size = 1; size <= ranks; ++size) {
    if (ranks % size)
      continue;
    if (size > 1)
      mesh.push_back({axes.front().str(), size});
    addMeshes(ranks / size, axes.drop_front(), mesh, meshes);
    if (size > 1)
      mesh.pop_back();
  }
}

std::vector<std::vector<MeshAxis>> braid::meshesOf(int64_t ranks, bool hasExperts) {
  std::vector<std::vector<MeshAxis>> meshes;
  std::vector<MeshAxis> mesh;
  auto axes = map_to_vector(kAxes, [](const AxisName &axis) { return axis.name; });
  if (!hasExperts)
    erase(axes, kExpertAxis);
  addMeshes(ranks, axes, mesh, meshes);
  return meshes;
}

static bool hasAxis(ArrayRef<MeshAxis> mesh, StringRef name) {
  return any_of(mesh, [&](const MeshAxis &axis) { return axis.name == name; });
}

std::vector<std::optional<int64_t>> braid::stagesOnMesh(ArrayRef<MeshAxis> mesh) {
  if (!hasAxis(mesh, kBatchAxes[0]) && !hasAxis(mesh, kExpertAxis) && !hasAxis(mesh, kContextAxis))
    return {std::nullopt};
  return {0, 1, 3}; // a pipeline has no ZeRO-2, and without microbatches it is ZeRO-1
}

DriverOptions braid::optionsOfMesh(const DriverOptions &options, ArrayRef<MeshAxis> mesh, std::optional<int64_t> zero) {
  DriverOptions candidate = optionsOfStage(options, zero.value_or(0));
  ParallelOptions &parallel = candidate.parallel;
  parallel.zero = zero;
  parallel.meshText = meshText(mesh);
  auto leaveOut = [&](StringRef name) { erase(candidate.given, name); };
  leaveOut("--link"); // it may give links of axes that this mesh lacks
  candidate.passes.tensor.sequence &= hasAxis(mesh, kTensorAxis);
  if (!hasAxis(mesh, kTensorAxis))
    parallel.tpOverlap.reset();
  if (!hasAxis(mesh, kContextAxis)) {
    candidate.passes.context = {};
    leaveOut("--context");
    leaveOut("--context-order");
  }
  if (!hasAxis(mesh, kStageAxis)) {
    candidate.passes.stages = {};
    for (StringRef name : {"--schedule", "--stages", "--chunks"})
      leaveOut(name);
  }
  return candidate;
}
