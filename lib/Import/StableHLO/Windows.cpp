//===- Windows.cpp - running sums and pools -------------------------------===//
//
// A window is reduced dim by dim. Elements i of all windows along a dim are a slice with the window's stride, and these
// slices are combined one by one. A window that reaches from an end of the dim to each element, as those of jnp.cumsum,
// is a running sum instead (lib/Import/Running.h).
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Windows.h"
#include "lib/Import/Running.h"
#include "lib/Import/StableHLO/Combiners.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

/// Upper limits of slices: of one dim, and of all dims together.
static constexpr int64_t kMaxSlices = 64;

/// Whether each window reaches from an end of a dim of `elements` to one element.
static bool isRunning(const Window &window, int64_t elements, bool fromBehind) {
  return window.size == elements && window.stride == 1 && window.dilation == 1 && window.count(elements) == elements &&
         (fromBehind ? window.low : window.high) == 0;
}

/// Returns the windows of each dim, or nothing if they do not fit `elements` and `counts`.
static std::optional<Windows> windowsOf(SourceOp &op, ArrayRef<int64_t> elements, ArrayRef<int64_t> counts) {
  size_t rank = elements.size();
  auto numbers = [&](StringRef name, size_t count, int64_t fallback) {
    Integers found = op.integers(name);
    return found.empty() ? Integers(count, fallback) : found;
  };
  Integers sizes = op.integers("window_dimensions"), strides = numbers("window_strides", rank, 1),
           dilations = numbers("window_dilations", rank, 1), padding = numbers("padding", 2 * rank, 0);
  if (sizes.size() != rank || strides.size() != rank || dilations.size() != rank || padding.size() != 2 * rank ||
      any_of(op.integers("base_dilations"), [](int64_t each) { return each != 1; }) ||
      any_of(padding, [](int64_t each) { return each < 0; }))
    return std::nullopt;
  Windows windows;
  for (size_t dim = 0; dim < rank; ++dim)
    windows.push_back({sizes[dim], strides[dim], dilations[dim], padding[2 * dim], padding[2 * dim + 1]});
  Expected<SmallVector<int64_t>> found = shapeOfWindows(elements, windows);
  if (!found) {
    consumeError(found.takeError());
    return std::nullopt;
  }
  return *found == counts ? std::optional(windows) : std::nullopt;
}

/// Combines the elements of each window along a dim. Returns null after an error.
static Value reducedAlong(SourceOp &op, Combiner kind, Value a, int64_t dim, const Window &window) {
  int64_t size = tg::typeOf(a).getDimSize(dim);
  for (bool fromBehind : {false, true})
    if (isRunning(window, size, fromBehind))
      return running(
          op, [&](Value left, Value right) { return combined(op, kind, left, right); },
          *neutralOf(kind, tg::typeOf(a).getElementType()), a, dim, fromBehind);
  if (window.size > kMaxSlices)
    return op.fail("windows of " + Twine(window.size) + " elements along a dim; at most " + Twine(kMaxSlices) +
                   " are supported, and running sums of any size");
  int64_t count = window.count(size);
  a = padOrCut(op, a, dim, window.low, window.high, *neutralOf(kind, tg::typeOf(a).getElementType()));
  Value result;
  for (int64_t i = 0; i < window.size; ++i) {
    Value part = sliced(op, a, dim, i * window.dilation, count, count == 1 ? 1 : window.stride);
    result = result ? combined(op, kind, result, part) : part;
  }
  return result;
}

static Values reduceWindow(SourceOp &op) {
  std::optional<Windows> windows = windowsOf(op, op.shape(0), op.resultShape());
  std::optional<Combiner> kind = reducerOf(op);
  Type element = op.element();
  if (!windows || op.operandType(0).getElementType() != element || element.isInteger(1))
    return {op.fail("the windows do not fit the operand and the result, or move over a dilated one")};
  if (!kind)
    return {op.fail("only sums from 0, products from 1, maxima from -inf and minima from inf are supported")};
  Value a = op.tensor(0);
  for (auto [dim, window] : enumerate(*windows))
    if (!(a = reducedAlong(op, *kind, a, dim, window)))
      return {};
  return {a};
}

static MaybeKnown evaluateReduceWindow(SourceOp &op) {
  const MaybeKnown &a = op.known(0);
  if (!a || reducerOf(op) != Combiner::Add)
    return std::nullopt;
  std::optional<Windows> windows = windowsOf(op, op.shape(0), op.resultShape());
  std::optional<size_t> along;
  for (auto [dim, window] : enumerate(windows.value_or(Windows()))) {
    int64_t elements = op.shape(0)[dim];
    if (window.size == 1 && window.count(elements) == elements)
      continue;
    if (along || !isRunning(window, elements, /*fromBehind=*/false))
      return std::nullopt;
    along = dim;
  }
  // A large table of integers could not become a constant.
  bool isLarge = !op.isFloatResult() && op.resultType().getNumElements() > kMaxConstantElements;
  return along && !isLarge ? known::runningSum(*a, *along) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Gradients of pools
//===----------------------------------------------------------------------===//

/// Whether the first element is chosen unless another is larger, and gradients are added.
static bool isGradientOfMaximum(SourceOp &op) {
  if (op.op->getNumRegions() != 2 || combinerOf(op, 1) != Combiner::Add || !op.known(2) || op.known(2)->splat() != 0.0)
    return false;
  Region &choice = op.op->getRegion(0);
  if (!choice.hasOneBlock() || choice.front().getOperations().size() != 2)
    return false;
  Operation &compare = choice.front().front();
  return compare.getName().getStringRef() == "stablehlo.compare" &&
         equal(compare.getOperands(), choice.getArguments()) &&
         wordOf(compare.getAttr("comparison_direction"), "comparison_direction") == "GE";
}

/// Returns the offsets of a window's elements, the last dim fastest.
static SmallVector<SmallVector<int64_t>> offsetsOf(ArrayRef<Window> windows) {
  SmallVector<SmallVector<int64_t>> offsets(1);
  for (const Window &window : windows) {
    SmallVector<SmallVector<int64_t>> longer;
    for (ArrayRef<int64_t> each : offsets)
      for (int64_t i = 0; i < window.size; ++i) {
        longer.emplace_back(each);
        longer.back().push_back(i);
      }
    offsets = std::move(longer);
  }
  return offsets;
}

/// Puts one number of each window at its place in the operand, with zeros elsewhere.
static Value placed(SourceOp &op, Value numbers, ArrayRef<Window> windows, ArrayRef<int64_t> offset) {
  for (auto [dim, window] : enumerate(windows)) {
    numbers = spread(op, numbers, dim, window.stride - 1, 0);
    int64_t behind = op.resultShape()[dim] - offset[dim] - tg::typeOf(numbers).getDimSize(dim);
    numbers = op.padZeros(numbers, dim, offset[dim], behind);
  }
  return numbers;
}

/// The gradient of a maximum of windows flows to the first of the largest elements.
static Values selectAndScatter(SourceOp &op) {
  std::optional<Windows> windows = windowsOf(op, op.shape(0), op.shape(1));
  int64_t elements = 1;
  for (const Window &window : windows.value_or(Windows()))
    elements *= std::min(window.size, kMaxSlices + 1) * (window.low == 0 && window.high == 0);
  if (!windows || op.operandType(0) != op.resultType() || op.operandType(1).getElementType() != op.element() ||
      !op.isFloatResult() || !isGradientOfMaximum(op) || elements < 1 || elements > kMaxSlices)
    return {op.fail("is supported only as the gradient of a maximum, of windows of at most " + Twine(kMaxSlices) +
                    " elements without padding")};
  Value a = op.tensor(0), source = op.tensor(1), largest, chosen;
  RankedTensorType integers = tg::withElement(op.operandType(1), op.builder.getI32Type());
  SmallVector<SmallVector<int64_t>> offsets = offsetsOf(*windows);
  for (auto [number, offset] : enumerate(offsets)) {
    Value part = a;
    for (auto [dim, window] : enumerate(*windows))
      part = sliced(op, part, dim, offset[dim], op.shape(1)[dim], op.shape(1)[dim] == 1 ? 1 : window.stride);
    Value own = op.constant(integers, static_cast<double>(number));
    Value isLarger = largest ? op.compare(arith::CmpFPredicate::ULT, largest, part) : Value();
    chosen = largest ? op.select(isLarger, own, chosen) : own;
    largest = largest ? op.select(isLarger, part, largest) : part;
  }
  Value sum;
  for (auto [number, offset] : enumerate(offsets)) {
    Value isChosen = op.compare(arith::CmpIPredicate::eq, chosen, op.constant(integers, static_cast<double>(number)));
    Value part = placed(op, op.select(isChosen, source, op.zeros(op.operandType(1))), *windows, offset);
    sum = sum ? op.add(sum, part) : part;
  }
  return {sum};
}

static constexpr OpRow kWindowRows[] = {
    {"stablehlo.reduce_window", 2,
     "window_dimensions:L window_strides:L? base_dilations:L? window_dilations:L? padding:L?", reduceWindow,
     evaluateReduceWindow, "slices of tg.slice that are combined"},
    {"stablehlo.select_and_scatter", 3, "window_dimensions:L window_strides:L? padding:L?", selectAndScatter, nullptr,
     "tg.slice, arith.select and tg.pad, for the gradient of a maximum"},
};

ArrayRef<OpRow> braid::stablehlo::windowRows() { return kWindowRows; }
