//===- Pooling.cpp - pools, and images of another size --------------------===//

#include "lib/Import/Torch/Translator.h"
#include "lib/Import/Windows.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// Reads the windows of a pool over the last dims, or nothing after an error.
static std::optional<Windows> windowsOf(CallBuilder &call, size_t dims) {
  std::optional<Integers> size = call.perDim("kernel_size", dims, 1), padding = call.perDim("padding", dims, 0),
                          dilation = call.perDim("dilation", dims, 1);
  std::optional<Integers> stride = call.integers("stride").empty() ? size : call.perDim("stride", dims, 1);
  if (!size || !padding || !dilation || !stride)
    return std::nullopt;
  if (shapeOf(call.tensor("self")).size() < dims || !tg::isFloat(call.tensor("self"))) {
    call.fail("only of floats with " + Twine(dims) + " dims");
    return std::nullopt;
  }
  Windows windows;
  for (size_t dim = 0; dim < dims; ++dim)
    windows.push_back({(*size)[dim], (*stride)[dim], (*dilation)[dim], (*padding)[dim], (*padding)[dim]});
  Expected<SmallVector<int64_t>> shape = shapeOfWindows(shapeOf(call.tensor("self")), windows);
  if (shape && *shape == call.resultType().shape)
    return windows;
  call.fail(shape ? "ceil_mode, with windows that end outside of the tensor, is not supported"
                  : toString(shape.takeError()));
  return std::nullopt;
}

/// Returns the parts of a tensor, or none after an error.
static SmallVector<Value> partsFor(CallBuilder &call, Value a, const Windows &windows, double value) {
  Expected<SmallVector<Value>> parts = partsOf(call, a, windows, value);
  if (parts)
    return std::move(*parts);
  call.fail(toString(parts.takeError()));
  return {};
}

/// The first largest number of each window; NaN where a window has one.
template <size_t dims> static Values maxPool(CallBuilder &call) {
  std::optional<Windows> windows = windowsOf(call, dims);
  if (!windows)
    return {};
  Value largest;
  for (Value part : partsFor(call, call.tensor("self"), *windows, -HUGE_VAL)) {
    if (!largest) {
      largest = part;
      continue;
    }
    Value isLarger = call.compare(arith::CmpFPredicate::OGT, part, largest);
    Value isNan = call.compare(arith::CmpFPredicate::UNO, part, part);
    largest = call.select(call.make<arith::OrIOp>(isLarger, isNan), part, largest);
  }
  return {largest};
}

/// Splits the last dims into windows that tile them and the elements of a window, and takes the mean of these.
static Value meanOfTiles(CallBuilder &call, Value a, ArrayRef<int64_t> sizes) {
  ArrayRef<int64_t> shape = shapeOf(a);
  SmallVector<int64_t> split(shape.drop_back(sizes.size())), reduced;
  for (auto [whole, size] : zip_equal(shape.take_back(sizes.size()), sizes)) {
    split.append({whole / size, size});
    reduced.push_back(split.size() - 1);
  }
  return call.reduce(tg::ReduceKind::Mean, call.reshape(a, split), reduced);
}

template <size_t dims> static Values averagePool(CallBuilder &call) {
  std::optional<Windows> windows = windowsOf(call, dims);
  if (!windows)
    return {};
  Value a = call.tensor("self");
  double numbers = 1;
  bool isTiled = true, isPadded = false;
  SmallVector<int64_t> sizes;
  for (auto [window, whole] : zip_equal(*windows, shapeOf(a).take_back(dims))) {
    numbers *= window.size;
    sizes.push_back(window.size);
    isTiled &= window.tiles(whole);
    isPadded |= window.low != 0;
  }
  bool hasDivisor = call.has("divisor_override");
  if (isTiled && !hasDivisor)
    return {meanOfTiles(call, a, sizes)};
  auto sum = [&](Value whole) {
    Value total;
    for (Value part : partsFor(call, whole, *windows, 0))
      total = total ? call.add(total, part) : part;
    return total;
  };
  if (isPadded && !hasDivisor && !call.boolean("count_include_pad", true)) {
    Value ones = call.constant(tg::withShape(tg::typeOf(a), shapeOf(a).take_back(dims)), 1);
    Value total = sum(a), count = total ? sum(ones) : total;
    return {count ? call.div(total, call.expand(count, call.resultType().shape)) : count};
  }
  double divisor = hasDivisor ? call.number("divisor_override") : numbers;
  if (divisor == 0)
    return {call.fail("the divisor is 0")};
  Value total = sum(a);
  return {total ? call.mul(total, 1 / divisor) : total};
}

/// Means of as many windows as the program states; those of a dim may overlap by an element.
template <size_t dims> static Values adaptiveAveragePool(CallBuilder &call) {
  Value a = call.tensor("self");
  ArrayRef<int64_t> result = call.resultType().shape;
  constexpr int64_t kMostWindows = 64;
  if (!tg::isFloat(a) || shapeOf(a).size() != result.size() || result.size() < dims)
    return {call.fail("only of floats with " + Twine(dims) + " dims")};
  for (int64_t dim = result.size() - dims; dim < static_cast<int64_t>(result.size()); ++dim) {
    int64_t size = shapeOf(a)[dim], count = result[dim];
    if (size == count)
      continue;
    if (size % count && count > kMostWindows)
      return {call.fail("more than " + Twine(kMostWindows) + " windows of different sizes are not supported")};
    SmallVector<Value> parts;
    for (int64_t i = 0; i < count && size % count; ++i) {
      int64_t start = i * size / count, end = ((i + 1) * size + count - 1) / count;
      parts.push_back(call.reduce(tg::ReduceKind::Mean, call.slice(a, dim, start, end - start), {dim}));
      SmallVector<int64_t> shape(shapeOf(a));
      shape[dim] = 1;
      parts.back() = call.reshape(parts.back(), shape);
    }
    if (parts.empty()) {
      SmallVector<int64_t> split(shapeOf(a));
      split[dim] = count;
      split.insert(split.begin() + dim + 1, size / count);
      a = call.reduce(tg::ReduceKind::Mean, call.reshape(a, split), {dim + 1});
    } else {
      a = call.make<tg::ConcatOp>(parts, dim);
    }
  }
  return {a};
}

//===----------------------------------------------------------------------===//
// Images of another size
//===----------------------------------------------------------------------===//

/// Repeats each element a whole number of times, or takes one of as many.
template <size_t dims> static Values nearest(CallBuilder &call) {
  Value a = call.tensor("input");
  ArrayRef<int64_t> result = call.resultType().shape;
  Numbers factors = call.numbers("scale_factors");
  if (shapeOf(a).size() != result.size() || result.size() != dims + 2 || (!factors.empty() && factors.size() != dims))
    return {call.fail("takes batch, channels and " + Twine(dims) + " dims")};
  for (size_t number = 0; number < dims; ++number) {
    int64_t dim = number + 2, size = shapeOf(a)[dim], wanted = result[dim];
    double factor = factors.empty() ? static_cast<double>(wanted) / size : factors[number];
    if (factor * size != wanted || (wanted % size && size % wanted))
      return {call.fail("only of whole factors, and of the inverse of whole factors that divide the size")};
    if (wanted < size)
      a = call.make<tg::SliceOp>(a, dim, 0, wanted, size / wanted);
    if (wanted <= size)
      continue;
    SmallVector<int64_t> wide(shapeOf(a)), kept = tg::dimRange(0, result.size() + 1), joined(shapeOf(a));
    wide.insert(wide.begin() + dim + 1, wanted / size);
    kept.erase(kept.begin() + dim + 1);
    joined[dim] = wanted;
    a = call.reshape(call.broadcast(a, tg::withShape(tg::typeOf(a), wide), kept), joined);
  }
  return {a};
}

static constexpr StringLiteral kMaxArguments = "self:T kernel_size:IL stride:IL? padding:IL? dilation:IL? ceil_mode:B?";
static constexpr StringLiteral kMeanArguments =
    "self:T kernel_size:IL stride:IL? padding:IL? ceil_mode:B? count_include_pad:B? divisor_override:I?";
static constexpr StringLiteral kNearestArguments = "input:T output_size:IL? scale_factors:NL?";

static constexpr OpRow kPoolingRows[] = {
    {"aten.max_pool1d.default", kMaxArguments, maxPool<1>, nullptr, "arith.select of slices"},
    {"aten.max_pool2d.default", kMaxArguments, maxPool<2>, nullptr, "arith.select of slices"},
    {"aten.max_pool3d.default", kMaxArguments, maxPool<3>, nullptr, "arith.select of slices"},
    {"aten.avg_pool1d.default", kMeanArguments, averagePool<1>, nullptr, "tg.reduce, or sums of slices"},
    {"aten.avg_pool2d.default", kMeanArguments, averagePool<2>, nullptr, "tg.reduce, or sums of slices"},
    {"aten.avg_pool3d.default", kMeanArguments, averagePool<3>, nullptr, "tg.reduce, or sums of slices"},
    {"aten.adaptive_avg_pool1d.default", "self:T output_size:IL", adaptiveAveragePool<1>, nullptr, "tg.reduce"},
    {"aten.adaptive_avg_pool2d.default", "self:T output_size:IL", adaptiveAveragePool<2>, nullptr, "tg.reduce"},
    {"aten.adaptive_avg_pool3d.default", "self:T output_size:IL", adaptiveAveragePool<3>, nullptr, "tg.reduce"},
    {"aten.upsample_nearest1d.vec", kNearestArguments, nearest<1>, nullptr, "tg.broadcast"},
    {"aten.upsample_nearest2d.vec", kNearestArguments, nearest<2>, nullptr, "tg.broadcast"},
    {"aten.upsample_nearest3d.vec", kNearestArguments, nearest<3>, nullptr, "tg.broadcast"},
};

ArrayRef<OpRow> braid::torch::poolingRows() { return kPoolingRows; }
