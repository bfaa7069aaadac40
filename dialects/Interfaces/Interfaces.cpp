//===- Interfaces.cpp - defaults shared by the op interfaces --------------===//

#include "dialects/Interfaces/Interfaces.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

#include "dialects/Interfaces/Interfaces.cpp.inc"

int64_t braid::elementBytes(Type elementType) {
  return (elementType.getIntOrFloatBitWidth() + 7) / 8;
}

int64_t braid::bytesOf(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      bytes += tensor.getNumElements() * elementBytes(tensor.getElementType());
  return bytes;
}

int64_t braid::defaultFlops(Operation *op) {
  int64_t flops = 0;
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      flops += tensor.getNumElements();
  return flops;
}
