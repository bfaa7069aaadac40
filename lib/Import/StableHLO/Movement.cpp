//===- Movement.cpp - shapes, parts, joins --------------------------------===//

#include "lib/Import/StableHLO/Translator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

/// Repeating numbers that are stored one by one beyond this many is left to the graph.
static constexpr int64_t kMaxRepeated = int64_t(1) << 18;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static bool isPermutation(ArrayRef<int64_t> dims, int64_t rank) {
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted);
  return sorted == tg::dimRange(0, rank);
}

static Values reshape(SourceOp &op) {
  if (op.operandType(0).getNumElements() != op.resultType().getNumElements() ||
      op.operandType(0).getElementType() != op.element())
    return {op.fail("the result has another number of elements, or another type")};
  return {op.reshape(op.tensor(0), op.resultShape())};
}
static MaybeKnown evaluateReshape(SourceOp &op) {
  const MaybeKnown &a = op.known(0);
  return a ? known::reshape(*a, op.resultShape()) : std::nullopt;
}

static Values transpose(SourceOp &op) {
  Integers permutation = op.integers("permutation");
  if (!isPermutation(permutation, op.shape(0).size()))
    return {op.fail("the dims are no permutation of the tensor's")};
  return {op.transposed(op.tensor(0), permutation)};
}
static MaybeKnown evaluateTranspose(SourceOp &op) {
  const MaybeKnown &a = op.known(0);
  Integers permutation = op.integers("permutation");
  return a && isPermutation(permutation, a->shape.size()) ? MaybeKnown(known::transpose(*a, permutation))
                                                          : std::nullopt;
}

namespace {
/// A repetition: the operand is transposed, so that its dims keep their order, and then dim i becomes dim `dims[i]`.
struct Repetition {
  SmallVector<int64_t> permutation, dims;
  /// Shape with the operand's sizes at its dims, and 1 elsewhere.
  Shape placed;
};
} // namespace

/// Returns the repetition of a broadcast, or nothing if its dims do not fit.
static std::optional<Repetition> repetitionOf(SourceOp &op) {
  Integers dims = op.integers("broadcast_dimensions");
  ArrayRef<int64_t> from = op.shape(0), to = op.resultShape();
  if (dims.size() != from.size() || op.operandType(0).getElementType() != op.element())
    return std::nullopt;
  Repetition repetition{tg::dimRange(0, dims.size()), {}, Shape(to.size(), 1)};
  for (auto [dim, size] : zip_equal(dims, from)) {
    if (dim < 0 || dim >= static_cast<int64_t>(to.size()) || (size != 1 && size != to[dim]) || count(dims, dim) != 1)
      return std::nullopt;
    repetition.placed[dim] = size;
  }
  llvm::sort(repetition.permutation, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
  for (int64_t dim : repetition.permutation)
    repetition.dims.push_back(dims[dim]);
  return repetition;
}
static Values broadcast(SourceOp &op) {
  std::optional<Repetition> repetition = repetitionOf(op);
  if (!repetition)
    return {op.fail("the dims do not fit operand and result")};
  if (std::optional<double> all = op.known(0) ? op.known(0)->splat() : std::nullopt; all && op.isFloatResult())
    return {op.constant(op.resultType(), *all)};
  Value ordered = op.transposed(op.tensor(0), repetition->permutation);
  return {op.expand(ordered, op.resultShape(), repetition->dims)};
}
static MaybeKnown evaluateBroadcast(SourceOp &op) {
  const MaybeKnown &a = op.known(0);
  std::optional<Repetition> repetition = a ? repetitionOf(op) : std::nullopt;
  if (!repetition)
    return std::nullopt;
  int64_t elements = op.resultType().getNumElements();
  bool isStored = std::holds_alternative<Dense>(a->value);
  if (isStored && elements > std::max(kMaxRepeated, op.operandType(0).getNumElements()))
    return std::nullopt;
  MaybeKnown placed = known::reshape(known::transpose(*a, repetition->permutation), repetition->placed);
  return placed ? known::broadcast(*placed, op.resultShape()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Parts and joins
//===----------------------------------------------------------------------===//

namespace {
struct Range {
  int64_t offset, size, stride;
};
} // namespace

/// Returns the range of each dim, or nothing if one leaves the tensor.
static std::optional<SmallVector<Range>> rangesOf(SourceOp &op) {
  Integers starts = op.integers("start_indices"), limits = op.integers("limit_indices"),
           strides = op.integers("strides");
  ArrayRef<int64_t> shape = op.shape(0);
  if (starts.size() != shape.size() || limits.size() != shape.size() || strides.size() != shape.size())
    return std::nullopt;
  SmallVector<Range> ranges;
  for (auto [start, limit, stride, size] : zip_equal(starts, limits, strides, shape)) {
    if (start < 0 || limit < start || limit > size || stride < 1)
      return std::nullopt;
    int64_t taken = (limit - start) / stride + ((limit - start) % stride != 0);
    ranges.push_back({start, taken, taken <= 1 ? 1 : stride});
  }
  return ranges;
}
static Values slice(SourceOp &op) {
  std::optional<SmallVector<Range>> ranges = rangesOf(op);
  if (!ranges)
    return {op.fail("a range leaves the tensor")};
  Value a = op.tensor(0);
  for (auto [dim, range] : enumerate(*ranges))
    a = sliced(op, a, dim, range.offset, range.size, range.stride);
  return {a};
}
static MaybeKnown evaluateSlice(SourceOp &op) {
  MaybeKnown a = op.known(0);
  std::optional<SmallVector<Range>> ranges = a ? rangesOf(op) : std::nullopt;
  if (!ranges)
    return std::nullopt;
  for (auto [dim, range] : enumerate(*ranges))
    a = known::slice(*a, dim, range.offset, range.size, range.stride);
  return a;
}

/// Whether the operands add up to the result along `dim`.
static bool addUp(SourceOp &op, int64_t dim) {
  ArrayRef<int64_t> result = op.resultShape();
  if (dim < 0 || dim >= static_cast<int64_t>(result.size()))
    return false;
  int64_t joined = 0;
  for (unsigned i = 0; i < op.numOperands(); ++i) {
    SmallVector<int64_t> shape(op.shape(i));
    if (shape.size() != result.size() || op.operandType(i).getElementType() != op.element())
      return false;
    joined += shape[dim];
    shape[dim] = result[dim];
    if (ArrayRef<int64_t>(shape) != result)
      return false;
  }
  return joined == result[dim];
}
static Values concat(SourceOp &op) {
  int64_t dim = op.integer("dimension");
  if (!addUp(op, dim))
    return {op.fail("the operands do not add up to the result")};
  Values parts;
  for (unsigned i = 0; i < op.numOperands(); ++i)
    if (op.shape(i)[dim] > 0)
      parts.push_back(op.tensor(i));
  return {parts.size() == 1 ? parts.front() : op.make<tg::ConcatOp>(parts, dim)};
}
static MaybeKnown evaluateConcat(SourceOp &op) {
  int64_t dim = op.integer("dimension");
  SmallVector<Known> parts;
  for (unsigned i = 0; i < op.numOperands() && addUp(op, dim); ++i) {
    const MaybeKnown &part = op.known(i);
    if (!part || !part->numbers())
      return std::nullopt;
    parts.push_back(*part);
  }
  return parts.empty() ? std::nullopt : known::concat(parts, dim);
}

/// Pads with a known number; a negative amount removes elements. Amounts between elements come first, as in the
/// gradient of x[::2].
static Values pad(SourceOp &op) {
  Integers low = op.integers("edge_padding_low"), high = op.integers("edge_padding_high"),
           interior = op.integers("interior_padding");
  ArrayRef<int64_t> shape = op.shape(0);
  std::optional<double> value = op.known(1) ? op.known(1)->splat() : std::nullopt;
  if (!value || !op.isFloatResult() || low.size() != shape.size() || high.size() != shape.size() ||
      interior.size() != shape.size() || any_of(interior, [](int64_t each) { return each < 0 || each > INT32_MAX; }))
    return {op.fail("only floats are padded, with a known number")};
  Value a = op.tensor(0);
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    a = spread(op, a, dim, interior[dim], *value);
    int64_t before = low[dim], behind = high[dim], size = tg::typeOf(a).getDimSize(dim);
    if (before < -size || behind < -size || before + behind < -size || before > INT32_MAX || behind > INT32_MAX)
      return {op.fail("removes more than the tensor has")};
    a = padOrCut(op, a, dim, before, behind, *value);
  }
  return {a};
}

static Values reverse(SourceOp &op) {
  Value a = op.tensor(0);
  for (int64_t dim : op.integers("dimensions"))
    if (!(a = op.reversed(a, dim)))
      return {};
  return {a};
}
static MaybeKnown evaluateReverse(SourceOp &op) {
  MaybeKnown a = op.known(0);
  for (int64_t dim : op.integers("dimensions")) {
    if (!a || dim < 0 || dim >= static_cast<int64_t>(a->shape.size()))
      return std::nullopt;
    a = known::slice(*a, dim, a->shape[dim] - 1, a->shape[dim], -1);
  }
  return a;
}

static constexpr OpRow kMovementRows[] = {
    {"stablehlo.broadcast_in_dim", 1, "broadcast_dimensions:L", broadcast, evaluateBroadcast, "tg.broadcast", "", true},
    {"stablehlo.reshape", 1, "", reshape, evaluateReshape, "tg.reshape", "", true},
    {"stablehlo.transpose", 1, "permutation:L", transpose, evaluateTranspose, "tg.transpose", "", true},
    {"stablehlo.slice", 1, "start_indices:L limit_indices:L strides:L", slice, evaluateSlice, "tg.slice", "", true},
    {"stablehlo.concatenate", -1, "dimension:I", concat, evaluateConcat, "tg.concat", "", true},
    {"stablehlo.pad", 2, "edge_padding_low:L edge_padding_high:L interior_padding:L", pad, nullptr, "tg.pad"},
    {"stablehlo.reverse", 1, "dimensions:L", reverse, evaluateReverse, "tg.reorder"},
};

ArrayRef<OpRow> braid::stablehlo::movementRows() { return kMovementRows; }
