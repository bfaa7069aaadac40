//===- Windows.cpp - running sums and pools -------------------------------===//
//
// A window is reduced dim by dim. Elements i of all windows along a dim are a slice with the window's stride, and these
// slices are combined one by one. A window that reaches from an end of the dim to each element, as those of jnp.cumsum,
// is a running sum instead (lib/Import/Running.h).
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Running.h"
#include "lib/Import/StableHLO/Combiners.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

/// Upper limits of slices: of one dim, and of all dims together.
static constexpr int64_t kMaxSlices = 64;

namespace {
/// Windows along a dim. `count` is their number.
struct Window {
  int64_t size, stride, low, high, count;

  /// Whether each window begins, or ends, at an end of the dim of `elements`.
  bool isRunning(int64_t elements, bool fromBehind) const {
    return size == elements && stride == 1 && count == elements && (fromBehind ? low : high) == 0;
  }
};
} // namespace

/// Returns the windows of each dim, or nothing if they do not fit `elements` and `counts`.
static std::optional<SmallVector<Window>> windowsOf(SourceOp &op, ArrayRef<int64_t> elements,
                                                    ArrayRef<int64_t> counts) {
  Integers sizes = op.integers("window_dimensions"), strides = op.integers("window_strides"),
           padding = op.integers("padding");
  size_t rank = elements.size();
  auto areOnes = [&](StringRef name) { return all_of(op.integers(name), [](int64_t each) { return each == 1; }); };
  if (strides.empty())
    strides.assign(rank, 1);
  if (padding.empty())
    padding.assign(2 * rank, 0);
  if (sizes.size() != rank || strides.size() != rank || padding.size() != 2 * rank || counts.size() != rank ||
      !areOnes("base_dilations") || !areOnes("window_dilations"))
    return std::nullopt;
  SmallVector<Window> windows;
  for (size_t dim = 0; dim < rank; ++dim) {
    Window window{sizes[dim], strides[dim], padding[2 * dim], padding[2 * dim + 1], counts[dim]};
    int64_t most = int64_t(1) << 32;
    if (window.size < 1 || window.stride < 1 || window.low < 0 || window.high < 0 || window.low > most ||
        window.high > most || elements[dim] + window.low + window.high < window.size || window.size > most ||
        (elements[dim] + window.low + window.high - window.size) / window.stride + 1 != window.count)
      return std::nullopt;
    windows.push_back(window);
  }
  return windows;
}

/// Combines the elements of each window along a dim. Returns null after an error.
static Value reducedAlong(SourceOp &op, Combiner kind, Value a, int64_t dim, const Window &window) {
  int64_t size = tg::typeOf(a).getDimSize(dim);
  for (bool fromBehind : {false, true})
    if (window.isRunning(size, fromBehind))
      return running(
          op, [&](Value left, Value right) { return combined(op, kind, left, right); },
          *neutralOf(kind, tg::typeOf(a).getElementType()), a, dim, fromBehind);
  if (window.size > kMaxSlices)
    return op.fail("windows of " + Twine(window.size) + " elements along a dim; at most " + Twine(kMaxSlices) +
                   " are supported, and running sums of any size");
  a = padOrCut(op, a, dim, window.low, window.high, *neutralOf(kind, tg::typeOf(a).getElementType()));
  Value result;
  for (int64_t i = 0; i < window.size; ++i) {
    Value part = sliced(op, a, dim, i, window.count, window.count == 1 ? 1 : window.stride);
    result = result ? combined(op, kind, result, part) : part;
  }
  return result;
}

static Values reduceWindow(SourceOp &op) {
  std::optional<SmallVector<Window>> windows = windowsOf(op, op.shape(0), op.resultShape());
  std::optional<Combiner> kind = reducerOf(op);
  Type element = op.element();
  if (!windows || op.operandType(0).getElementType() != element || element.isInteger(1))
    return {op.fail("the windows do not fit the operand and the result, or are dilated")};
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
  std::optional<SmallVector<Window>> windows = windowsOf(op, op.shape(0), op.resultShape());
  std::optional<size_t> along;
  for (auto [dim, window] : enumerate(windows.value_or(SmallVector<Window>()))) {
    if (window.size == 1 && window.count == op.shape(0)[dim])
      continue;
    if (along || !window.isRunning(op.shape(0)[dim], /*fromBehind=*/false))
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
  std::optional<SmallVector<Window>> windows = windowsOf(op, op.shape(0), op.shape(1));
  int64_t elements = 1;
  for (const Window &window : windows.value_or(SmallVector<Window>()))
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
      part = sliced(op, part, dim, offset[dim], window.count, window.count == 1 ? 1 : window.stride);
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
