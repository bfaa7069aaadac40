//===- Programs.cpp - functions that only some ranks run ------------------===//

#include "dialects/Comm/Programs.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

StringAttr comm::entryOf(Operation *function) { return function->getAttrOfType<StringAttr>(kEntry); }

ProgramAttr comm::rankSubsetOf(Operation *op) {
  auto ranks = op->getAttrOfType<ProgramAttr>(CommDialect::kProgram);
  return ranks && ranks.getAxis() ? ranks : ProgramAttr();
}

ProgramAttr comm::unionOf(Operation *user, ProgramAttr a, ProgramAttr b) {
  if (!a || !b || a.getAxis() != b.getAxis())
    return {};
  llvm::SmallVector<int64_t> coordinates(a.getCoordinates());
  for (int64_t at : b.getCoordinates())
    if (!llvm::is_contained(coordinates, at))
      coordinates.push_back(at);
  llvm::sort(coordinates);
  std::optional<Mesh> mesh = Mesh::lookup(user, a.getMesh());
  if (mesh && int64_t(coordinates.size()) == mesh->sizeOf(a.getAxis()))
    return {};
  return ProgramAttr::get(user->getContext(), a.getMesh(), a.getAxis(), coordinates);
}

bool comm::shareRanks(ProgramAttr a, ProgramAttr b) {
  // The coordinates of different axes always share a rank of the grid.
  if (!a || !b || a.getAxis() != b.getAxis())
    return true;
  return llvm::any_of(a.getCoordinates(), [&](int64_t at) { return llvm::is_contained(b.getCoordinates(), at); });
}
