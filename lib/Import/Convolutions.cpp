//===- Convolutions.cpp - convolutions as matrix products -----------------===//

#include "lib/Import/Convolutions.h"

#include "lib/Import/Parts.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

/// Letters of the dims of space, of their parts, and of both.
static constexpr StringLiteral kSpace = "hwd", kInner = "pqr";

/// Upper limit of a count, so that products fit.
static constexpr int64_t kMost = int64_t(1) << 31;

static std::string space(size_t dims) { return kSpace.take_front(dims).str(); }

/// Space is split into patches and their elements.
static Value productOfPatches(tg::TensorBuilder &b, const Convolution &conv) {
  size_t dims = conv.windows.size();
  ArrayRef<int64_t> shape = shapeOf(conv.input);
  SmallVector<int64_t> split{shape[0], shape[1]};
  std::string letters = "bc", kernel = "oc";
  for (size_t dim = 0; dim < dims; ++dim) {
    split.append({shape[2 + dim] / conv.windows[dim].size, conv.windows[dim].size});
    letters += {kSpace[dim], kInner[dim]};
    kernel += kInner[dim];
  }
  return b.contract(letters + "," + kernel + "->bo" + space(dims), b.reshape(conv.input, split), conv.weight);
}

/// Each channel has a filter of its own.
static Value sumOfParts(tg::TensorBuilder &b, const Convolution &conv, ArrayRef<Value> parts) {
  int64_t channels = shapeOf(conv.weight)[0], numbers = parts.size();
  Value weight = b.reshape(conv.weight, {channels, numbers}), sum;
  for (auto [number, part] : enumerate(parts)) {
    int64_t at = conv.isFlipped ? numbers - 1 - number : number;
    Value filter = b.reshape(b.slice(weight, 1, at, 1), {channels});
    Value product = b.mul(part, b.broadcast(filter, tg::typeOf(part), {1}));
    sum = sum ? b.add(sum, product) : product;
  }
  return sum;
}

/// The parts of all windows, joined: batch x numbers x groups x channels x space.
static Value productOfParts(tg::TensorBuilder &b, const Convolution &conv, SmallVector<Value> parts) {
  ArrayRef<int64_t> part = shapeOf(parts.front()), kernel = shapeOf(conv.weight);
  int64_t numbers = parts.size(), groups = conv.groups;
  if (conv.isFlipped)
    std::reverse(parts.begin(), parts.end());
  SmallVector<int64_t> single{part[0], 1, groups, part[1] / groups};
  append_range(single, part.drop_front(2));
  for (Value &each : parts)
    each = b.reshape(each, single);
  Value joined = numbers == 1 ? parts.front() : b.make<tg::ConcatOp>(parts, 1);
  Value weight = b.reshape(conv.weight, {groups, kernel[0] / groups, kernel[1], numbers});
  std::string letters = space(conv.windows.size());
  SmallVector<int64_t> result{part[0], kernel[0]};
  append_range(result, part.drop_front(2));
  if (groups == 1) {
    single.erase(single.begin() + 2);
    single[1] = numbers;
    Value wide = b.reshape(joined, single);
    return b.contract("bkc" + letters + ",ock->bo" + letters, wide, b.reshape(weight, shapeOf(weight).drop_front()));
  }
  return b.reshape(b.contract("bkgc" + letters + ",gock->bgo" + letters, joined, weight), result);
}

/// Multiplies one window after another by the weights, and joins the products.
static Expected<Value> productsOfWindows(tg::TensorBuilder &b, const Convolution &conv, ArrayRef<int64_t> shape) {
  if (conv.isFlipped)
    return createStringError("the window has more than %lld numbers", static_cast<long long>(kMostParts));
  // A part of the input for each window has the numbers of the window in place of space.
  Windows swapped;
  for (auto [dim, window] : enumerate(conv.windows))
    swapped.push_back({shape[2 + dim], window.dilation, window.stride, window.low, 0});
  for (auto [dim, window] : enumerate(conv.windows))
    swapped[dim].high =
        window.reach() + (shape[2 + dim] - 1) * window.stride - window.low - shapeOf(conv.input)[2 + dim];
  Expected<SmallVector<Value>> parts = partsOf(b, conv.input, swapped, 0);
  if (!parts)
    return parts.takeError();
  ArrayRef<int64_t> kernel = shapeOf(conv.weight);
  std::string letters = space(conv.windows.size());
  int64_t groups = conv.groups, batch = shape[0];
  SmallVector<int64_t> grouped{groups, kernel[0] / groups}, split{batch, groups, kernel[1]};
  append_range(grouped, kernel.drop_front());
  append_range(split, kernel.drop_front(2));
  Value weight = b.reshape(conv.weight, grouped);
  for (Value &part : *parts)
    part = b.reshape(b.contract("bgc" + letters + ",goc" + letters + "->bgo", b.reshape(part, split), weight),
                     {batch, kernel[0], 1});
  Value joined = parts->size() == 1 ? parts->front() : b.make<tg::ConcatOp>(*parts, 2);
  return b.reshape(joined, shape);
}

Expected<Value> braid::convolve(tg::TensorBuilder &b, const Convolution &conv) {
  ArrayRef<int64_t> shape = shapeOf(conv.input);
  Expected<SmallVector<int64_t>> result = shapeOfWindows(shape, conv.windows);
  if (!result)
    return result.takeError();
  bool isPatches = conv.groups == 1 && !conv.isFlipped;
  int64_t numbers = 1, windows = 1;
  for (auto [dim, window] : enumerate(conv.windows)) {
    isPatches &= window.tiles(shape[2 + dim]);
    numbers = std::min(numbers * window.size, kMost);
    windows = std::min(windows * (*result)[2 + dim], kMost);
  }
  if (isPatches)
    return productOfPatches(b, conv);
  (*result)[1] = shapeOf(conv.weight)[0];
  if (numbers > kMostParts || (numbers > windows && !conv.isFlipped))
    return productsOfWindows(b, conv, *result);
  Expected<SmallVector<Value>> parts = partsOf(b, conv.input, conv.windows, 0);
  if (!parts)
    return parts.takeError();
  if (conv.groups == shape[1] && shapeOf(conv.weight)[0] == shape[1])
    return sumOfParts(b, conv, *parts);
  return productOfParts(b, conv, std::move(*parts));
}
