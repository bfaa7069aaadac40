//===- Convolutions.cpp - convolutions of any layout ----------------------===//
//
// A convolution whose windows do not overlap, and its gradients, are one einsum in the layout of the operands. Others
// are brought into the order of lib/Import/Convolutions.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Convolutions.h"
#include "lib/Import/StableHLO/Translator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

static constexpr StringLiteral kSpace = "012";

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

namespace {
/// Letters of the dims: batch and features, outputs and inputs, numbers of space.
struct Layout {
  std::string input, kernel, result;
};

/// How windows move along a dim of space: over an input with spread - 1 zeros between neighbors.
struct Move {
  int64_t stride, spread, dilation, low, high;
  bool isReversed;
};
} // namespace

/// Reads the dims of a tensor, such as [b, f, 0, 1]; nothing unless they are both words and the first numbers.
static std::optional<std::string> readDims(StringRef text, StringRef words) {
  std::string dims;
  SmallVector<StringRef> parts;
  if (!text.consume_front("[") || !text.consume_back("]"))
    return std::nullopt;
  text.split(parts, ',');
  for (StringRef part : parts)
    dims += part.trim().str();
  std::string sorted = dims, expected = (kSpace.take_front(parts.size() - 2) + words).str();
  sort(sorted);
  sort(expected);
  return parts.size() > 2 && parts.size() <= 2 + kSpace.size() && sorted == expected ? std::optional(dims)
                                                                                     : std::nullopt;
}

/// Returns the layout, or nothing if it does not fit the operands.
static std::optional<Layout> layoutOf(SourceOp &op) {
  StringRef text = textOf(op.attribute("dimension_numbers"), "conv").value_or("");
  auto [operands, resultText] = text.split("->");
  auto [inputText, kernelText] = operands.split("x");
  std::optional<std::string> input = readDims(inputText, "bf"), kernel = readDims(kernelText, "oi"),
                             result = readDims(resultText, "bf");
  if (!input || !kernel || !result || input->size() != op.shape(0).size() || kernel->size() != op.shape(1).size() ||
      kernel->size() != input->size() || result->size() != op.resultShape().size() || result->size() != input->size())
    return std::nullopt;
  return Layout{*input, *kernel, *result};
}

/// Returns how windows move along each dim of space, or nothing if a number is out of range.
static std::optional<SmallVector<Move>> movesOf(SourceOp &op, size_t dims) {
  auto numbers = [&](StringRef name, size_t count, int64_t fallback) {
    Integers found = op.integers(name);
    return found.empty() ? Integers(count, fallback) : found;
  };
  Integers strides = numbers("window_strides", dims, 1), spreads = numbers("lhs_dilation", dims, 1),
           dilations = numbers("rhs_dilation", dims, 1), padding = numbers("padding", 2 * dims, 0);
  auto reversal = dyn_cast_or_null<DenseBoolArrayAttr>(op.attribute("window_reversal"));
  if (strides.size() != dims || spreads.size() != dims || dilations.size() != dims || padding.size() != 2 * dims ||
      (reversal && reversal.size() != static_cast<int64_t>(dims)))
    return std::nullopt;
  SmallVector<Move> moves;
  for (size_t dim = 0; dim < dims; ++dim) {
    Move move{strides[dim],     spreads[dim],         dilations[dim],
              padding[2 * dim], padding[2 * dim + 1], reversal && reversal[dim]};
    for (int64_t number : {move.stride, move.spread, move.dilation})
      if (number < 1 || number > kMostSize)
        return std::nullopt;
    if (move.low < -kMostSize || move.low > kMostSize || move.high < -kMostSize || move.high > kMostSize)
      return std::nullopt;
    moves.push_back(move);
  }
  return moves;
}

//===----------------------------------------------------------------------===//
// Patches
//===----------------------------------------------------------------------===//

namespace {
/// A dim of space in a convolution of patches: its letters in an einsum, and the input's sizes.
struct SpaceDim {
  std::string input, kernel, result;
  SmallVector<int64_t> sizes;
  /// Whether the kernel is read from behind.
  bool isReversed = false;
};
} // namespace

/// Returns the letters of a dim of space: a position, p, and an element of the window, u. The input of a convolution
/// has both. The gradient of the kernel multiplies the input by positions, and the gradient of the input has both in
/// its result. Returns nothing for windows that overlap.
static std::optional<SpaceDim> spaceDimOf(const Move &move, size_t space, int64_t size, int64_t window) {
  std::string p(1, "pqr"[space]), u(1, "uvw"[space]);
  bool isWhole = move.spread == 1 && move.low == 0 && move.high == 0;
  if (window < 1 || move.isReversed)
    return std::nullopt;
  if (isWhole && move.dilation == 1 && move.stride == window && size % window == 0)
    return SpaceDim{p + u, u, p, {size / window, window}};
  if (isWhole && move.stride == 1 && size % window == 0 && size / window == move.dilation)
    return SpaceDim{p + u, p, u, {window, move.dilation}};
  if (move.spread == window && move.dilation == 1 && move.stride == 1 && move.low == window - 1 &&
      move.high == window - 1)
    return SpaceDim{p, u, p + u, {size}, /*isReversed=*/true};
  return std::nullopt;
}

/// Returns the dims of space, or nothing unless none has windows that overlap.
static std::optional<SmallVector<SpaceDim>> patchesOf(SourceOp &op, const Layout &layout, ArrayRef<Move> moves) {
  SmallVector<SpaceDim> dims;
  for (auto [space, move] : enumerate(moves)) {
    size_t ofInput = layout.input.find(kSpace[space]), ofKernel = layout.kernel.find(kSpace[space]);
    std::optional<SpaceDim> dim = spaceDimOf(move, space, op.shape(0)[ofInput], op.shape(1)[ofKernel]);
    if (!dim)
      return std::nullopt;
    dims.push_back(*dim);
  }
  return dims;
}

/// A convolution whose windows do not overlap multiplies patches by a matrix; so do its gradients.
static Value productOfPatches(SourceOp &op, const Layout &layout, ArrayRef<SpaceDim> dims) {
  SmallVector<int64_t> split;
  Value weight = op.tensor(1);
  for (auto [letter, size] : zip_equal(layout.input, op.shape(0))) {
    size_t space = kSpace.find(letter);
    append_range(split, space == StringRef::npos ? ArrayRef<int64_t>(size) : ArrayRef(dims[space].sizes));
  }
  for (auto [space, dim] : enumerate(dims))
    if (dim.isReversed && !(weight = op.reversed(weight, layout.kernel.find(kSpace[space]))))
      return {};
  auto named = [&](StringRef letters, char from, char to, std::string SpaceDim::*ofSpace) {
    std::string text;
    for (char letter : letters) {
      size_t space = kSpace.find(letter);
      text += space != StringRef::npos ? dims[space].*ofSpace : std::string(1, letter == from ? to : letter);
    }
    return text;
  };
  std::string spec = named(layout.input, 'f', 'f', &SpaceDim::input) + "," +
                     named(layout.kernel, 'i', 'f', &SpaceDim::kernel) + "->" +
                     named(layout.result, 'f', 'o', &SpaceDim::result);
  auto contraction = tg::ContractionAttr::get(op.builder.getContext(), spec);
  Value patches = op.reshape(op.tensor(0), split);
  Expected<SmallVector<int64_t>> shape = contraction.getResultShape(tg::typeOf(patches), tg::typeOf(weight));
  if (!shape)
    return op.fail(toString(shape.takeError()));
  if (tg::withShape(op.resultType(), *shape).getNumElements() != op.resultType().getNumElements())
    return op.fail("the dims do not fit the result");
  return op.reshape(op.make<tg::ContractOp>(contraction, patches, weight), op.resultShape());
}

//===----------------------------------------------------------------------===//
// Other windows
//===----------------------------------------------------------------------===//

/// Brings the dims of a tensor, which have these letters, into another order.
static Value inOrder(SourceOp &op, Value a, StringRef letters, const Twine &order) {
  SmallVector<int64_t> permutation;
  for (char letter : order.str())
    permutation.push_back(letters.find(letter));
  return op.transposed(a, permutation);
}

/// Splits the batch into groups, which become groups of channels.
static Value groupsOfBatch(SourceOp &op, Value input, int64_t groups) {
  SmallVector<int64_t> shape(shapeOf(input)), order = tg::dimRange(0, shape.size() + 1);
  SmallVector<int64_t> split{groups, shape[0] / groups}, joined{shape[0] / groups, groups * shape[1]};
  append_range(split, ArrayRef(shape).drop_front());
  append_range(joined, ArrayRef(shape).drop_front(2));
  std::swap(order[0], order[1]);
  return op.reshape(op.transpose(op.reshape(input, split), order), joined);
}

/// Returns why the shapes of operands in order do not fit, or nothing. `result` is the shape of the result in order.
static StringRef misfit(const Convolution &conv, ArrayRef<Move> moves, ArrayRef<int64_t> result) {
  constexpr double kMostElements = double(int64_t(1) << 40);
  ArrayRef<int64_t> input = shapeOf(conv.input), kernel = shapeOf(conv.weight);
  double elements = static_cast<double>(input[0]) * input[1];
  if (input[1] != kernel[1] * conv.groups || kernel[0] % conv.groups || result[0] != input[0] || result[1] != kernel[0])
    return "the dims do not fit the operands";
  for (auto [dim, move] : enumerate(moves)) {
    if (input[2 + dim] > kMostSize)
      return "has a dim of more than 2^30 elements";
    int64_t size = (input[2 + dim] - 1) * move.spread + 1;
    if (size + move.low + move.high < conv.windows[dim].reach() || conv.windows[dim].count(size) != result[2 + dim])
      return "the dims do not fit the result";
    elements *= static_cast<double>(size + std::max<int64_t>(move.low, 0) + std::max<int64_t>(move.high, 0));
  }
  return elements > kMostElements ? "has more than 2^40 elements with its padding" : "";
}

static Value productOfWindows(SourceOp &op, const Layout &layout, ArrayRef<Move> moves) {
  StringRef space = kSpace.take_front(moves.size());
  Convolution conv;
  conv.input = inOrder(op, op.tensor(0), layout.input, "bf" + space);
  conv.weight = inOrder(op, op.tensor(1), layout.kernel, "oi" + space);
  int64_t groupsOfFeatures = op.integer("feature_group_count", 1), groups = op.integer("batch_group_count", 1);
  if (groupsOfFeatures < 1 || groups < 1 || std::min(groups, groupsOfFeatures) > 1 ||
      shapeOf(conv.input)[0] % groups != 0)
    return op.fail("the groups do not fit the operands");
  if (groups > 1)
    conv.input = groupsOfBatch(op, conv.input, groups);
  conv.groups = groups * groupsOfFeatures;
  for (auto [dim, move] : enumerate(moves))
    conv.windows.push_back({shapeOf(conv.weight)[2 + dim], move.stride, move.dilation, move.low, move.high});
  SmallVector<int64_t> result;
  for (char letter : ("bf" + space).str())
    result.push_back(op.resultShape()[layout.result.find(letter)]);
  if (StringRef reason = misfit(conv, moves, result); !reason.empty())
    return op.fail(reason);
  for (auto [dim, move] : enumerate(moves)) {
    conv.input = spread(op, conv.input, 2 + dim, move.spread - 1, 0);
    if (move.isReversed && !(conv.weight = op.reversed(conv.weight, 2 + dim)))
      return {};
  }
  Expected<Value> value = convolve(op, conv);
  return value ? inOrder(op, *value, ("bf" + space).str(), layout.result) : op.fail(toString(value.takeError()));
}

static Values convolution(SourceOp &op) {
  std::optional<Layout> layout = layoutOf(op);
  std::optional<SmallVector<Move>> moves = layout ? movesOf(op, layout->input.size() - 2) : std::nullopt;
  if (!moves || op.operandType(0).getElementType() != op.element() ||
      op.operandType(1).getElementType() != op.element() || !op.isFloatResult())
    return {op.fail("the dims do not fit the operands, or these are no floats of one type")};
  bool hasGroups = op.integer("batch_group_count", 1) != 1 || op.integer("feature_group_count", 1) != 1;
  std::optional<SmallVector<SpaceDim>> patches = hasGroups ? std::nullopt : patchesOf(op, *layout, *moves);
  return {patches ? productOfPatches(op, *layout, *patches) : productOfWindows(op, *layout, *moves)};
}

static constexpr OpRow kConvolutionRows[] = {
    {"stablehlo.convolution", 2,
     "dimension_numbers:E window_strides:L? padding:L? lhs_dilation:L? rhs_dilation:L? batch_group_count:I "
     "feature_group_count:I",
     convolution, nullptr, "tg.contract of patches, of the parts of windows, or of windows",
     "precision_config window_reversal"},
};

ArrayRef<OpRow> braid::stablehlo::convolutionRows() { return kConvolutionRows; }
