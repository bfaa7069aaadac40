//===- Convolutions.cpp - convolutions, forward and transposed ------------===//

#include "lib/Import/Convolutions.h"
#include "lib/Import/Torch/Translator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

/// Returns the convolution with its bias, in the shape that the program states.
static Values convolved(CallBuilder &call, const Convolution &conv, int64_t channels) {
  Expected<Value> result = convolve(call, conv);
  if (!result)
    return {call.fail(toString(result.takeError()))};
  Value value = *result;
  RankedTensorType type = tg::typeOf(value);
  if (call.has("bias")) {
    Value bias = call.tensor("bias");
    if (bias.getType() != RankedTensorType::get({channels}, type.getElementType()))
      return {call.fail("the bias has another size or type than the result's channels")};
    value = call.add(value, call.broadcast(bias, type, {1}));
  }
  return {call.reshape(value, call.resultType().shape)};
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
  auto isLarge = [](int64_t size) { return size > kMostSize; };
  if (any_of(shapeOf(conv.input), isLarge) || any_of(shapeOf(conv.weight), isLarge)) {
    call.fail("input or weight has a dim of more than 2^30 elements");
    return false;
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
  std::optional<Integers> amounts = call.perDim("padding", windows.size(), 0);
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
  std::optional<Integers> stride = call.perDim("stride", dims, 1), dilation = call.perDim("dilation", dims, 1);
  if (!stride || !dilation || !readOperands(call, conv, dims))
    return {};
  if (shapeOf(conv.input)[1] != shapeOf(conv.weight)[1] * conv.groups)
    return {call.fail("input and weight do not fit together")};
  for (size_t dim = 0; dim < dims; ++dim)
    conv.windows.push_back({shapeOf(conv.weight)[2 + dim], (*stride)[dim], (*dilation)[dim]});
  if (!readPadding(call, conv.windows))
    return {};
  return convolved(call, conv, shapeOf(conv.weight)[0]);
}

//===----------------------------------------------------------------------===//
// Transposed convolutions
//===----------------------------------------------------------------------===//

/// The gradient of a convolution with respect to its input: the windows move over a spread input.
template <size_t dims> static Values transposedConvolution(CallBuilder &call) {
  Convolution conv;
  std::optional<Integers> stride = call.perDim("stride", dims, 1), dilation = call.perDim("dilation", dims, 1);
  std::optional<Integers> padding = call.perDim("padding", dims, 0), added = call.perDim("output_padding", dims, 0);
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
    int64_t wide = (shapeOf(conv.input)[2 + dim] - 1) * (*stride)[dim] + (*dilation)[dim] * (kernel[2 + dim] - 1) + 1;
    if (wide - 2 * (*padding)[dim] + (*added)[dim] !=
        call.resultType().shape[call.resultType().shape.size() - dims + dim])
      return {call.fail("the result has another size than stride, padding and dilation give")};
    conv.input = spread(call, conv.input, 2 + dim, (*stride)[dim] - 1, 0);
    Window window{kernel[2 + dim], 1, (*dilation)[dim]};
    window.low = window.reach() - 1 - (*padding)[dim];
    window.high = window.low + (*added)[dim];
    conv.windows.push_back(window);
  }
  return convolved(call, conv, outputs);
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
