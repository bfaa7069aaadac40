//===- FileLayout.cpp - shapes of tensors in programs and in files --------===//

#include "dialects/TG/FileLayout.h"
#include "dialects/TG/TG.h"

using namespace mlir;
using namespace braid::tg;

RankedTensorType FileLayout::inFiles(RankedTensorType held) const {
  SmallVector<int64_t> shape(held.getShape());
  if (transposed)
    std::swap(shape[0], shape[1]);
  if (fused >= 0) {
    shape[fused] *= shape[fused + 1];
    shape.erase(shape.begin() + fused + 1);
  }
  return held.clone(shape);
}

FileLayout braid::tg::fileLayoutOf(Attribute paramOrState) {
  if (auto param = dyn_cast_or_null<ParamAttr>(paramOrState))
    return {param.getTransposed(), param.getFused()};
  if (auto state = dyn_cast_or_null<StateAttr>(paramOrState))
    return {state.getTransposed(), state.getFused()};
  return {};
}
