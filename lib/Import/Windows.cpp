//===- Windows.cpp - windows that move over the last dims -----------------===//

#include "lib/Import/Windows.h"

#include "lib/Import/Parts.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

Expected<SmallVector<int64_t>> braid::shapeOfWindows(ArrayRef<int64_t> shape, const Windows &windows) {
  SmallVector<int64_t> result(shape);
  int64_t first = shape.size() - windows.size();
  for (auto [number, window] : enumerate(windows)) {
    auto isSize = [](int64_t size) { return size >= 1 && size <= kMostSize; };
    if (!isSize(window.size) || !isSize(window.stride) || !isSize(window.dilation) || window.low < -kMostSize ||
        window.low > kMostSize || window.high < -kMostSize || window.high > kMostSize)
      return createStringError("the window has a size, stride or dilation below 1, or above 2^30");
    result[first + number] = window.count(shape[first + number]);
    if (shape[first + number] + window.low + window.high < window.reach())
      return createStringError("the window is larger than the tensor");
  }
  return result;
}

Expected<SmallVector<Value>> braid::partsOf(tg::TensorBuilder &b, Value a, const Windows &windows, double value) {
  int64_t dim = tg::typeOf(a).getRank() - windows.size(), numbers = 1;
  for (const Window &window : windows)
    numbers *= std::min(window.size, kMostParts + 1);
  if (numbers > kMostParts)
    return createStringError("the window has more than %lld numbers", static_cast<long long>(kMostParts));
  SmallVector<Value> parts{a};
  for (const Window &window : windows) {
    int64_t count = window.count(tg::typeOf(a).getDimSize(dim));
    SmallVector<Value> next;
    for (Value part : parts) {
      Value padded = padOrCut(b, part, dim, window.low, window.high, value);
      for (int64_t i = 0; i < window.size; ++i)
        next.push_back(sliced(b, padded, dim, i * window.dilation, count, count == 1 ? 1 : window.stride));
    }
    parts = std::move(next);
    ++dim;
  }
  return parts;
}
