//===- Convolutions.cpp - convolutions as matrix products -----------------===//
//
// A convolution whose windows do not overlap multiplies patches by a matrix. Another one multiplies the parts of its
// windows, which are joined first. One with a filter for each channel is a sum of products of parts.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Torch/Windows.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

/// Letters of the dims of space, of their parts, and of both.
static constexpr StringLiteral kSpace = "hwd", kInner = "pqr";

static std::string space(size_t dims) { return kSpace.take_front(dims).str(); }

namespace {
/// A convolution of batch x channels x space with weights of outputs x (channels / groups) x window.
struct Convolution {
  Value input, weight;
  Windows windows;
  int64_t groups = 1;
  /// Whether the first number of a window meets the last of the weights, as in the gradient of a convolution.
  bool isFlipped = false;
};
} // namespace

/// Space is split into patches and their elements.
static Value productOfPatches(CallBuilder &call, const Convolution &conv) {
  size_t dims = conv.windows.size();
  ArrayRef<int64_t> shape = shapeOf(conv.input);
  SmallVector<int64_t> split{shape[0], shape[1]};
  std::string letters = "bc", kernel = "oc";
  for (size_t dim = 0; dim < dims; ++dim) {
    split.append({shape[2 + dim] / conv.windows[dim].size, conv.windows[dim].size});
    letters += {kSpace[dim], kInner[dim]};
    kernel += kInner[dim];
  }
  return call.contract(letters + "," + kernel + "->bo" + space(dims), call.reshape(conv.input, split), conv.weight);
}

/// Each channel has a filter of its own.
static Value sumOfParts(CallBuilder &call, const Convolution &conv, ArrayRef<Value> parts) {
  int64_t channels = shapeOf(conv.weight)[0], numbers = parts.size();
  Value weight = call.reshape(conv.weight, {channels, numbers}), sum;
  for (auto [number, part] : enumerate(parts)) {
    int64_t at = conv.isFlipped ? numbers - 1 - number : number;
    Value filter = call.reshape(call.slice(weight, 1, at, 1), {channels});
    Value product = call.mul(part, call.broadcast(filter, tg::typeOf(part), {1}));
    sum = sum ? call.add(sum, product) : product;
  }
  return sum;
}

/// The parts of all windows, joined: batch x numbers x groups x channels x space.
static Value productOfParts(CallBuilder &call, const Convolution &conv, SmallVector<Value> parts) {
  ArrayRef<int64_t> part = shapeOf(parts.front()), kernel = shapeOf(conv.weight);
  int64_t numbers = parts.size(), groups = conv.groups;
  if (conv.isFlipped)
    std::reverse(parts.begin(), parts.end());
  SmallVector<int64_t> single{part[0], 1, groups, part[1] / groups};
  append_range(single, part.drop_front(2));
  for (Value &each : parts)
    each = call.reshape(each, single);
  Value joined = numbers == 1 ? parts.front() : call.make<tg::ConcatOp>(parts, 1);
  Value weight = call.reshape(conv.weight, {groups, kernel[0] / groups, kernel[1], numbers});
  std::string letters = space(conv.windows.size());
  SmallVector<int64_t> result{part[0], kernel[0]};
  append_range(result, part.drop_front(2));
  if (groups == 1) {
    single.erase(single.begin() + 2);
    single[1] = numbers;
    Value product = call.contract("bkc" + letters + ",ock->bo" + letters, call.reshape(joined, single),
                                  call.reshape(weight, shapeOf(weight).drop_front()));
    return product;
  }
  return call.reshape(call.contract("bkgc" + letters + ",gock->bgo" + letters, joined, weight), result);
}

static Value convolve(CallBuilder &call, const Convolution &conv) {
  ArrayRef<int64_t> shape = shapeOf(conv.input);
  bool isPatches = conv.groups == 1 && !conv.isFlipped;
  for (auto [dim, window] : enumerate(conv.windows))
    isPatches &= window.tiles(shape[2 + dim]);
  if (isPatches)
    return productOfPatches(call, conv);
  if (!shapeOfWindows(call, shape, conv.windows))
    return {};
  SmallVector<Value> parts = partsOf(call, conv.input, conv.windows, 0);
  if (conv.groups == shape[1] && shapeOf(conv.weight)[0] == shape[1])
    return sumOfParts(call, conv, parts);
  return productOfParts(call, conv, parts);
}

static Value withBias(CallBuilder &call, Value result, int64_t channels) {
  if (!result || !call.has("bias"))
    return result;
  Value bias = call.tensor("bias");
  if (bias.getType() != RankedTensorType::get({channels}, tg::typeOf(result).getElementType()))
    return call.fail("the bias has another size or type than the result's channels");
  return call.add(result, call.broadcast(bias, tg::typeOf(result), {1}));
}

/// Reads input and weight with a batch, or fails.
static bool readOperands(CallBuilder &call, Convolution &conv, size_t dims) {
  conv.input = call.tensor("input");
  conv.weight = call.tensor("weight");
  conv.groups = call.integer("groups", 1);
  if (shapeOf(conv.input).size() == dims + 1) {
    SmallVector<int64_t> shape{1};
    append_range(shape, shapeOf(conv.input));
    conv.input = call.reshape(conv.input, shape);
  }
  if (shapeOf(conv.input).size() == dims + 2 && shapeOf(conv.weight).size() == dims + 2 && tg::isFloat(conv.input) &&
      tg::typeOf(conv.weight).getElementType() == tg::typeOf(conv.input).getElementType() && conv.groups >= 1 &&
      shapeOf(conv.weight)[0] % conv.groups == 0 && shapeOf(conv.input)[1] % conv.groups == 0)
    return true;
  call.fail("input and weight do not fit together");
  return false;
}

/// Reads padding: a number for each dim, 'same' or 'valid'.
static bool readPadding(CallBuilder &call, Windows &windows) {
  StringRef mode = call.string("padding");
  std::optional<Integers> amounts = perDim(call, "padding", windows.size(), 0);
  if (!amounts)
    return false;
  for (auto [window, amount] : zip_equal(windows, *amounts)) {
    int64_t both = mode == "same" ? window.reach() - 1 : 2 * amount;
    window.low = both / 2;
    window.high = both - window.low;
  }
  return true;
}

template <size_t dims> static Values convolution(CallBuilder &call) {
  Convolution conv;
  std::optional<Integers> stride = perDim(call, "stride", dims, 1), dilation = perDim(call, "dilation", dims, 1);
  if (!stride || !dilation || !readOperands(call, conv, dims))
    return {};
  if (shapeOf(conv.input)[1] != shapeOf(conv.weight)[1] * conv.groups)
    return {call.fail("input and weight do not fit together")};
  for (size_t dim = 0; dim < dims; ++dim)
    conv.windows.push_back({shapeOf(conv.weight)[2 + dim], (*stride)[dim], (*dilation)[dim]});
  if (!readPadding(call, conv.windows))
    return {};
  Value result = withBias(call, convolve(call, conv), shapeOf(conv.weight)[0]);
  return {result ? call.reshape(result, call.resultType().shape) : result};
}

//===----------------------------------------------------------------------===//
// Transposed convolutions
//===----------------------------------------------------------------------===//

/// Puts stride - 1 zeros between neighbors along a dim.
static Value spread(CallBuilder &call, Value a, int64_t dim, int64_t stride) {
  SmallVector<int64_t> shape(shapeOf(a));
  if (stride == 1)
    return a;
  int64_t size = shape[dim];
  shape.insert(shape.begin() + dim + 1, 1);
  a = padOrCut(call, call.reshape(a, shape), dim + 1, 0, stride - 1, 0);
  shape.erase(shape.begin() + dim + 1);
  shape[dim] = size * stride;
  return padOrCut(call, call.reshape(a, shape), dim, 0, 1 - stride, 0);
}

/// The gradient of a convolution with respect to its input: the windows move over a spread input.
template <size_t dims> static Values transposedConvolution(CallBuilder &call) {
  Convolution conv;
  std::optional<Integers> stride = perDim(call, "stride", dims, 1), dilation = perDim(call, "dilation", dims, 1);
  std::optional<Integers> padding = perDim(call, "padding", dims, 0), added = perDim(call, "output_padding", dims, 0);
  if (!stride || !dilation || !padding || !added || !readOperands(call, conv, dims))
    return {};
  SmallVector<int64_t> kernel(shapeOf(conv.weight));
  int64_t groups = conv.groups, outputs = kernel[1] * groups;
  if (kernel[0] != shapeOf(conv.input)[1])
    return {call.fail("input and weight do not fit together")};
  // Weights are channels x (outputs / groups) x window here.
  SmallVector<int64_t> grouped{groups, kernel[0] / groups, kernel[1]}, order{0, 2, 1};
  append_range(grouped, ArrayRef(kernel).drop_front(2));
  append_range(order, tg::dimRange(3, 3 + dims));
  kernel = {outputs, grouped[1]};
  append_range(kernel, ArrayRef(grouped).drop_front(3));
  conv.weight = call.reshape(call.transpose(call.reshape(conv.weight, grouped), order), kernel);
  conv.isFlipped = true;
  for (size_t dim = 0; dim < dims; ++dim) {
    if ((*stride)[dim] < 1 || (*dilation)[dim] < 1)
      return {call.fail("stride and dilation must be at least 1")};
    conv.input = spread(call, conv.input, 2 + dim, (*stride)[dim]);
    Window window{kernel[2 + dim], 1, (*dilation)[dim]};
    window.low = window.reach() - 1 - (*padding)[dim];
    window.high = window.low + (*added)[dim];
    conv.windows.push_back(window);
  }
  Value result = withBias(call, convolve(call, conv), outputs);
  return {result ? call.reshape(result, call.resultType().shape) : result};
}

static constexpr StringLiteral kArguments = "input:T weight:T bias:T? stride:IL? padding:IL? dilation:IL? groups:I?";
static constexpr StringLiteral kModeArguments = "input:T weight:T bias:T? stride:IL? padding:S? dilation:IL? groups:I?";
static constexpr StringLiteral kTransposedArguments =
    "input:T weight:T bias:T? stride:IL? padding:IL? output_padding:IL? groups:I? dilation:IL?";
static constexpr StringLiteral kBecomes = "tg.contract of patches, or of the parts of windows";

static constexpr OpRow kConvolutionRows[] = {
    {"aten.conv1d.default", kArguments, convolution<1>, nullptr, kBecomes},
    {"aten.conv2d.default", kArguments, convolution<2>, nullptr, kBecomes},
    {"aten.conv3d.default", kArguments, convolution<3>, nullptr, kBecomes},
    {"aten.conv1d.padding", kModeArguments, convolution<1>, nullptr, kBecomes},
    {"aten.conv2d.padding", kModeArguments, convolution<2>, nullptr, kBecomes},
    {"aten.conv3d.padding", kModeArguments, convolution<3>, nullptr, kBecomes},
    {"aten.conv_transpose1d.default", kTransposedArguments, transposedConvolution<1>, nullptr, kBecomes},
    {"aten.conv_transpose2d.input", kTransposedArguments, transposedConvolution<2>, nullptr, kBecomes},
    {"aten.conv_transpose3d.input", kTransposedArguments, transposedConvolution<3>, nullptr, kBecomes},
};

ArrayRef<OpRow> braid::torch::convolutionRows() { return kConvolutionRows; }
