//===- OnlyMesh.cpp - the mesh of a module, and named axes ----------------===//

#include "passes/Strategies/OnlyMesh.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

FailureOr<GlobalMesh> braid::onlyMesh(ModuleOp module, StringRef pass) {
  auto meshes = llvm::to_vector(module.getOps<MeshOp>());
  if (meshes.size() != 1)
    return module.emitError() << pass << " needs a module with one comm.mesh, found " << meshes.size();
  return GlobalMesh{FlatSymbolRefAttr::get(meshes.front().getSymNameAttr()), Mesh(meshes.front())};
}

AxesAttr braid::axesNamed(MLIRContext *context, ArrayRef<std::string> names) {
  return AxesAttr::get(
      context, llvm::map_to_vector(names, [&](const std::string &name) { return StringAttr::get(context, name); }));
}
