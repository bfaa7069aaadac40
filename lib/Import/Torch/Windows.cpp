//===- Windows.cpp - windows that move over the last dims -----------------===//

#include "lib/Import/Torch/Windows.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

/// Upper limit of the numbers of a window.
static constexpr int64_t kMostParts = 256;

std::optional<Integers> braid::torch::perDim(CallBuilder &call, StringRef name, size_t dims, int64_t fallback) {
  Integers given = call.integers(name);
  if (given.empty())
    given.push_back(call.isNumber(name) ? call.integer(name) : fallback);
  if (given.size() == 1)
    given.resize(dims, given.front());
  if (given.size() == dims)
    return given;
  call.fail("'" + name + "' has " + Twine(given.size()) + " numbers for " + Twine(dims) + " dims");
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> braid::torch::shapeOfWindows(CallBuilder &call, ArrayRef<int64_t> shape,
                                                                 const Windows &windows) {
  SmallVector<int64_t> result(shape);
  int64_t first = shape.size() - windows.size(), parts = 1;
  for (auto [number, window] : enumerate(windows)) {
    if (window.size < 1 || window.stride < 1 || window.dilation < 1 || window.size > kMostParts / parts) {
      call.fail("the window has a size below 1, or more than " + Twine(kMostParts) + " numbers");
      return std::nullopt;
    }
    parts *= window.size;
    result[first + number] = window.count(shape[first + number]);
    if (result[first + number] < 1) {
      call.fail("the window is larger than the tensor");
      return std::nullopt;
    }
  }
  return result;
}

SmallVector<Value> braid::torch::partsOf(CallBuilder &call, Value a, const Windows &windows, double value) {
  int64_t dim = tg::typeOf(a).getRank() - windows.size();
  SmallVector<Value> parts{a};
  for (const Window &window : windows) {
    int64_t count = window.count(tg::typeOf(a).getDimSize(dim));
    SmallVector<Value> next;
    for (Value part : parts) {
      Value padded = padOrCut(call, part, dim, window.low, window.high, value);
      for (int64_t i = 0; i < window.size; ++i)
        next.push_back(window.size == 1 && count == tg::typeOf(padded).getDimSize(dim)
                           ? padded
                           : call.make<tg::SliceOp>(padded, dim, i * window.dilation, count, window.stride));
    }
    parts = std::move(next);
    ++dim;
  }
  return parts;
}
