//===- TensorShape.cpp - supported tensor shapes --------------------------===//

#include "dialects/Interfaces/TensorShape.h"

using namespace mlir;

bool braid::hasSupportedShape(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape) { // kDynamic is negative
    if (extent < 1 || extent > kMaxElements / elements)
      return false;
    elements *= extent;
  }
  return true;
}

bool braid::hasSupportedShape(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && hasSupportedShape(tensor.getShape());
}

std::string braid::problemOfShape(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return isa<UnrankedTensorType>(type) ? "has no rank; give every extent as a number" : "is not a tensor";
  for (auto [dim, extent] : llvm::enumerate(tensor.getShape())) {
    if (ShapedType::isDynamic(extent))
      return "has no extent in dim " + std::to_string(dim) + "; give every extent as a number";
    if (extent < 1)
      return "has the extent " + std::to_string(extent) + " in dim " + std::to_string(dim) + "; extents are 1 or more";
  }
  return hasSupportedShape(tensor.getShape())
             ? ""
             : "has more than 2^53 elements, the most that a tensor may have; make its extents smaller";
}
