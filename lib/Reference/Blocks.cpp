//===- Blocks.cpp - splitting and joining of tensors ----------------------===//

#include "lib/Reference/Blocks.h"
#include "dialects/Comm/Sharding.h"
#include <cmath>

using namespace mlir;
using namespace braid;
using namespace braid::reference;

Index braid::reference::blockShape(ArrayRef<int64_t> shape, int64_t dim, int64_t n) {
  if (dim == comm::kFlat)
    return {comm::flatRange(elementCount(shape), n)};
  Index block(shape);
  block[dim] /= n;
  return block;
}

Places braid::reference::placesOfBlock(ArrayRef<int64_t> shape, int64_t dim, int64_t n, int64_t i) {
  Places places;
  Index block = blockShape(shape, dim, n);
  if (dim == comm::kFlat) {
    int64_t count = elementCount(shape);
    for (int64_t k = 0, place = i * block[0]; k < block[0]; ++k, ++place)
      places.push_back(place < count ? place : -1);
    return places;
  }
  Index strides = rowMajorStrides(shape);
  forEachIndex(block, [&](ArrayRef<int64_t> index) {
    int64_t place = i * block[dim] * strides[dim];
    for (size_t d = 0; d < index.size(); ++d)
      place += index[d] * strides[d];
    places.push_back(place);
  });
  return places;
}

Tensor braid::reference::blockOf(const Tensor &whole, int64_t dim, int64_t n, int64_t i) {
  Tensor block(blockShape(whole.shape, dim, n), whole.elementType);
  Places places = placesOfBlock(whole.shape, dim, n, i);
  for (int64_t k = 0; k < block.size(); ++k)
    if (places[k] >= 0)
      block[k] = whole[places[k]];
  return block;
}

Tensor braid::reference::joinBlocks(ArrayRef<const Tensor *> blocks, int64_t dim, ArrayRef<int64_t> shape) {
  Tensor whole(shape, blocks.front()->elementType);
  for (size_t i = 0; i < blocks.size(); ++i) {
    Places places = placesOfBlock(shape, dim, blocks.size(), i);
    for (size_t k = 0; k < places.size(); ++k)
      if (places[k] >= 0)
        whole[places[k]] = (*blocks[i])[k];
  }
  return whole;
}

/// Combines two elements; a mean is divided at the end. In max and min, NaN wins over numbers.
static Element combineTwo(comm::Reduction kind, bool floats, Element a, Element b) {
  switch (kind) {
  case comm::Reduction::Sum:
  case comm::Reduction::Mean:
    // Adds as unsigned numbers, because ints may wrap.
    return floats ? ofFloat(a.f + b.f)
                  : ofInt(static_cast<int64_t>(static_cast<uint64_t>(a.i) + static_cast<uint64_t>(b.i)));
  case comm::Reduction::Max:
    return floats ? ofFloat(std::isnan(a.f) || a.f >= b.f ? a.f : b.f) : ofInt(std::max(a.i, b.i));
  case comm::Reduction::Min:
    return floats ? ofFloat(std::isnan(a.f) || a.f <= b.f ? a.f : b.f) : ofInt(std::min(a.i, b.i));
  }
  llvm_unreachable("unknown reduction");
}

Tensor braid::reference::combine(comm::Reduction kind, ArrayRef<const Tensor *> tensors) {
  Tensor result = *tensors.front();
  for (const Tensor *tensor : tensors.drop_front())
    for (int64_t i = 0; i < result.size(); ++i)
      result[i] = combineTwo(kind, result.hasFloats(), result[i], (*tensor)[i]);
  for (Element &e : result.elements) {
    if (!result.hasFloats())
      e.i = wrapTo(result.elementType, e.i);
    else if (kind == comm::Reduction::Mean)
      e.f /= static_cast<double>(tensors.size());
  }
  return result;
}
