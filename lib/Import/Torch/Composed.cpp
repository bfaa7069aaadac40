//===- Composed.cpp - ops as formulas of other ops ------------------------===//

#include "lib/Import/Running.h"
#include "lib/Import/Torch/Indices.h"
#include "lib/Import/Torch/Losses.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

/// Returns the first operand as floats, or null after an error.
static Value floatsOf(CallBuilder &call, StringRef name = "self") {
  Value a = call.tensor(name);
  return tg::isFloat(a) ? a : call.fail("only of floats");
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static Values square(CallBuilder &call) {
  Value a = floatsOf(call);
  return a ? Values{call.square(a)} : Values{};
}

static Values leakyRelu(CallBuilder &call) {
  Value a = floatsOf(call);
  if (!a)
    return {};
  Value isPositive = call.compare(arith::CmpFPredicate::OGT, a, call.constantLike(a, 0));
  return {call.select(isPositive, a, call.mul(a, call.number("negative_slope", 0.01)))};
}

/// The first half times the sigmoid of the second.
static Values glu(CallBuilder &call) {
  Value a = floatsOf(call);
  int64_t dim = a ? call.dim("dim", tg::typeOf(a).getRank(), -1) : -1;
  if (dim < 0)
    return {};
  int64_t half = tg::typeOf(a).getDimSize(dim) / 2;
  Value gate = call.slice(a, dim, half, half);
  Value sigmoid = call.div(call.constantLike(gate, 1), call.add(call.exp(call.neg(gate)), 1.0));
  return {call.mul(call.slice(a, dim, 0, half), sigmoid)};
}

/// self + value * tensor1 * tensor2.
static Values addProduct(CallBuilder &call) {
  Type element = call.resultTensor().getElementType();
  if (!isa<FloatType>(element))
    return {call.fail("only of floats")};
  Value product = call.mul(call.operand("tensor1", element), call.operand("tensor2", element));
  if (double value = call.number("value", 1); value != 1)
    product = call.mul(product, value);
  return {call.add(call.operand("self", element), product)};
}

/// Whether column - row <= diagonal (tril), or >= (triu).
static Band triangle(CallBuilder &call, bool isLower) {
  size_t rank = call.resultType().shape.size();
  Affine term{SmallVector<int64_t>(rank, 0), call.integer("diagonal")};
  term.factors[rank - 2] = isLower ? 1 : -1;
  term.factors[rank - 1] = isLower ? -1 : 1;
  term.constant = isLower ? term.constant : -term.constant;
  return {{term}};
}
template <bool isLower> static Values triangular(CallBuilder &call) {
  if (call.resultType().shape.size() < 2)
    return {call.fail("of a tensor with fewer than two dims")};
  Value a = call.tensor("self");
  Operand inside{{},
                 known::logicalAnd(known::boolean(call.resultType().shape, true),
                                   Known{call.resultType().shape, triangle(call, isLower)})};
  bool hasFailed = false;
  Value condition = materialize(inside, tg::withElement(call.resultTensor(), call.builder.getI1Type()), call.builder,
                                call.loc, hasFailed);
  return {call.select(condition, a, call.zeros(tg::typeOf(a)))};
}
/// Of ones, a band.
template <bool isLower> static MaybeKnown evaluateTriangular(CallBuilder &call) {
  const MaybeKnown &a = call.known("self");
  if (!a || call.resultType().shape.size() < 2 || a->splat() != 1.0)
    return std::nullopt;
  return known::logicalAnd(known::boolean(call.resultType().shape, true),
                           Known{call.resultType().shape, triangle(call, isLower)});
}

//===----------------------------------------------------------------------===//
// Along a dim
//===----------------------------------------------------------------------===//

// log(sum(exp(x - max))) + max: the maximum has no gradient, because it cancels.
Value braid::torch::logSumExp(tg::TensorBuilder &b, Value a) {
  Value largest = b.make<tg::StopGradientOp>(b.reduceLanes(tg::ReduceKind::Max, a));
  Value sum = b.reduceLanes(tg::ReduceKind::Sum, b.exp(b.sub(a, b.broadcastRows(largest, a))));
  return b.add(b.log(sum), largest);
}

static Values logSoftmax(CallBuilder &call) {
  Value a = call.convert(call.tensor("self"), call.resultTensor().getElementType());
  int64_t dim = call.dim("dim", tg::typeOf(a).getRank());
  if (dim < 0 || !tg::isFloat(a))
    return {call.fail("only of floats")};
  Value last = swapLast(call, a, dim);
  return {swapLast(call, call.sub(last, call.broadcastRows(logSumExp(call, last), last)), dim)};
}

/// Along any dims: those reduced come last, as one.
static Values logSumExpOf(CallBuilder &call) {
  Value a = floatsOf(call);
  std::optional<SmallVector<int64_t>> dims = a ? reducedDims(call) : std::nullopt;
  if (!dims)
    return {};
  int64_t rank = tg::typeOf(a).getRank();
  SmallVector<int64_t> order = tg::otherDims(*dims, rank), shape;
  for (int64_t dim : order)
    shape.push_back(tg::typeOf(a).getDimSize(dim));
  append_range(order, *dims);
  if (order != tg::dimRange(0, rank))
    a = call.transpose(a, order);
  if (dims->size() != 1) {
    shape.push_back(-1);
    shape.back() = tg::typeOf(a).getNumElements() / call.resultTensor().getNumElements();
    a = call.reshape(a, shape);
  }
  return {call.reshape(logSumExp(call, a), call.resultType().shape)};
}

/// The root of an order of the sum of powers over some dims. Its gradient where all are 0 is 0.
static Value normOver(CallBuilder &call, Value a, double order, ArrayRef<int64_t> dims) {
  if (!(order >= 1))
    return call.fail("only norms of an order of at least 1");
  a = order == 2 ? call.square(a) : call.make<math::AbsFOp>(a);
  if (order == 1 || std::isinf(order))
    return call.reduce(order == 1 ? tg::ReduceKind::Sum : tg::ReduceKind::Max, a, dims);
  if (order != 2)
    a = call.pow(a, call.constantLike(a, order));
  Value sum = call.sum(a, dims);
  Value isZero = call.compare(arith::CmpFPredicate::OEQ, sum, call.constantLike(sum, 0));
  Value positive = call.select(isZero, call.constantLike(sum, 1), sum);
  Value root = order == 2 ? call.sqrt(positive) : call.pow(positive, call.constantLike(sum, 1 / order));
  return call.select(isZero, call.constantLike(sum, 0), root);
}

static Values vectorNorm(CallBuilder &call) {
  Value a = floatsOf(call);
  std::optional<SmallVector<int64_t>> dims = a ? reducedDims(call) : std::nullopt;
  Value norm = dims ? normOver(call, a, call.number("ord", 2), *dims) : Value();
  return {norm ? call.reshape(norm, call.resultType().shape) : Value()};
}

/// Norms of the differences of each two rows.
static Values distances(CallBuilder &call) {
  Value a = call.tensor("x1"), b = call.tensor("x2");
  SmallVector<int64_t> shape(call.resultType().shape), left(tg::typeOf(a).getShape()), right(tg::typeOf(b).getShape());
  if (left.size() < 2 || right.size() < 2 || left.back() != right.back() || !tg::isFloat(a))
    return {call.fail("takes rows of floats of the same size")};
  shape.push_back(left.back());
  left.insert(left.end() - 1, 1);
  right.insert(right.end() - 2, 1);
  a = call.expand(call.reshape(a, left), shape);
  b = call.expand(call.reshape(b, right), shape);
  int64_t last = shape.size() - 1;
  return {a && b ? normOver(call, call.sub(a, b), call.number("p", 2), {last}) : Value()};
}

/// Sums or products of the elements up to each one.
static Values runningResult(CallBuilder &call, bool isSum) {
  Value a = call.tensor("self");
  int64_t dim = call.dim("dim", tg::typeOf(a).getRank());
  if (dim < 0)
    return {};
  if (!tg::isFloat(a))
    a = countable(call);
  if (!a)
    return {};
  auto combine = [&](Value left, Value right) { return isSum ? call.add(left, right) : call.mul(left, right); };
  return {call.convert(running(call, combine, isSum ? 0 : 1, a, dim), call.resultElement())};
}
static Values runningSum(CallBuilder &call) { return runningResult(call, true); }
static Values runningProduct(CallBuilder &call) { return runningResult(call, false); }
static MaybeKnown evaluateRunningSum(CallBuilder &call) {
  const MaybeKnown &a = call.known("self");
  int64_t dim = a ? call.dim("dim", a->shape.size()) : -1;
  return dim < 0 ? std::nullopt : known::runningSum(*a, dim);
}

//===----------------------------------------------------------------------===//
// Choices of lanes
//===----------------------------------------------------------------------===//

/// The k largest values and their indices, along any dim.
static std::pair<Value, Value> largest(CallBuilder &call, Value a, int64_t dim, int64_t k) {
  Value last = swapLast(call, a, dim);
  auto top = call.builder.create<tg::TopKOp>(call.loc, last, k);
  return {swapLast(call, top.getValues(), dim), swapLast(call, top.getIndices(), dim)};
}

static Values topK(CallBuilder &call) {
  Value a = floatsOf(call);
  int64_t dim = a ? call.dim("dim", tg::typeOf(a).getRank(), -1) : -1, k = call.integer("k");
  if (dim < 0)
    return {};
  if (k < 1 || k > tg::typeOf(a).getDimSize(dim))
    return {call.fail("takes from 1 to " + Twine(tg::typeOf(a).getDimSize(dim)) + " values")};
  bool isLargest = call.boolean("largest", true);
  auto [values, indices] = largest(call, isLargest ? a : call.neg(a), dim, k);
  return {isLargest ? values : call.neg(values), indices};
}

template <bool isLargest> static Values extremumOfDim(CallBuilder &call) {
  if (call.numResults() != 2)
    return {call.fail("has values and indices as results")};
  Value a = floatsOf(call);
  int64_t dim = a ? call.dim("dim", tg::typeOf(a).getRank()) : -1;
  if (dim < 0)
    return {};
  auto [values, indices] = largest(call, isLargest ? a : call.neg(a), dim, 1);
  values = isLargest ? values : call.neg(values);
  return {call.reshape(values, call.resultType(0).shape), call.reshape(indices, call.resultType(1).shape)};
}

template <bool isLargest> static Values positionOfExtremum(CallBuilder &call) {
  Value a = floatsOf(call);
  if (a && !isLargest)
    a = call.neg(a);
  if (a && !call.has("dim"))
    a = call.reshape(a, {tg::typeOf(a).getNumElements()});
  int64_t dim = a ? call.dim("dim", tg::typeOf(a).getRank(), -1) : -1;
  return dim < 0 ? Values{} : Values{call.reshape(largest(call, a, dim, 1).second, call.resultType().shape)};
}

static Values oneHot(CallBuilder &call) {
  Value indices = call.tensor("self");
  if (!tg::typeOf(indices).getElementType().isInteger(32))
    return {call.fail("only of integers")};
  return {call.convert(lanesOf(call, indices, call.resultType().shape.back()), call.builder.getI32Type())};
}

//===----------------------------------------------------------------------===//
// Repeats
//===----------------------------------------------------------------------===//

/// Tiles: each dim `repeats` times, as a whole.
static Values repeat(CallBuilder &call) {
  Value a = call.tensor("self");
  Integers repeats = call.integers("repeats");
  SmallVector<int64_t> shape(tg::typeOf(a).getShape()), wide, dims;
  if (repeats.size() < shape.size() || repeats.size() != call.resultType().shape.size())
    return {call.fail("takes a number of repeats for each dim")};
  shape.insert(shape.begin(), repeats.size() - shape.size(), 1);
  for (auto [size, times, result] : zip_equal(shape, repeats, call.resultType().shape)) {
    if (times < 1 || result / times != size || result % times)
      return {call.fail("the numbers of repeats do not give the result's shape")};
    dims.push_back(wide.size() + 1);
    wide.append({times, size});
  }
  Value repeated = call.broadcast(call.reshape(a, shape), tg::withShape(tg::typeOf(a), wide), dims);
  return {call.reshape(repeated, call.resultType().shape)};
}

/// The last `shift` indices of a dim come first.
static Values roll(CallBuilder &call) {
  Value a = call.tensor("self");
  Integers shifts = call.integers("shifts"), dims = call.integers("dims");
  bool isFlat = dims.empty() && shifts.size() == 1;
  if (isFlat) {
    a = call.reshape(a, {tg::typeOf(a).getNumElements()});
    dims = {0};
  }
  if (shifts.size() != dims.size())
    return {call.fail("takes a shift for each dim")};
  for (auto [shift, given] : zip_equal(shifts, dims)) {
    int64_t rank = tg::typeOf(a).getRank(), dim = given < 0 ? given + rank : given;
    if (dim < 0 || dim >= rank)
      return {call.fail("dim " + Twine(given) + " is none of the tensor's")};
    int64_t size = tg::typeOf(a).getDimSize(dim), moved = ((shift % size) + size) % size;
    if (moved != 0)
      a = call.make<tg::ConcatOp>(
          ValueRange{call.slice(a, dim, size - moved, moved), call.slice(a, dim, 0, size - moved)}, dim);
  }
  return {isFlat ? call.reshape(a, call.resultType().shape) : a};
}

static constexpr OpRow kComposedRows[] = {
    {"aten.square.default", "self:T", square, nullptr, "arith.mulf"},
    {"aten.leaky_relu.default", "self:T negative_slope:N?", leakyRelu, nullptr, "arith.select"},
    {"aten.glu.default", "self:T dim:I?", glu, nullptr, "the first half times the sigmoid of the second"},
    {"aten.addcmul.default", "self:T tensor1:T tensor2:T value:N?", addProduct, nullptr, "arith.mulf, addf"},
    {"aten.tril.default", "self:T diagonal:I?", triangular<true>, evaluateTriangular<true>, "arith.select"},
    {"aten.triu.default", "self:T diagonal:I?", triangular<false>, evaluateTriangular<false>, "arith.select"},
    {"aten.logsumexp.default", "self:T dim:IL keepdim:B?", logSumExpOf, nullptr, "tg.reduce"},
    {"aten.log_softmax.int", "self:T dim:I dtype:D?", logSoftmax, nullptr, "tg.reduce"},
    {"aten.linalg_vector_norm.default", "self:T ord:N? dim:IL? keepdim:B?", vectorNorm, nullptr, "tg.reduce", "dtype"},
    {"aten.cdist.default", "x1:T x2:T p:N?", distances, nullptr, "tg.reduce", "compute_mode"},
    {"aten.cumsum.default", "self:T dim:I", runningSum, evaluateRunningSum, "sums of elements 1, 2, 4, ... apart",
     "dtype"},
    {"aten.cumprod.default", "self:T dim:I", runningProduct, nullptr, "products of elements 1, 2, 4, ... apart"},
    {"aten.topk.default", "self:T k:I dim:I? largest:B?", topK, nullptr, "tg.top_k", "sorted"},
    {"aten.max.dim", "self:T dim:I keepdim:B?", extremumOfDim<true>, nullptr, "tg.top_k"},
    {"aten.min.dim", "self:T dim:I keepdim:B?", extremumOfDim<false>, nullptr, "tg.top_k"},
    {"aten.argmax.default", "self:T dim:I? keepdim:B?", positionOfExtremum<true>, nullptr, "tg.top_k"},
    {"aten.argmin.default", "self:T dim:I? keepdim:B?", positionOfExtremum<false>, nullptr, "tg.top_k"},
    {"aten.one_hot.default", "self:T num_classes:I?", oneHot, nullptr, "a comparison with tg.iota"},
    {"aten.repeat.default", "self:T repeats:IL", repeat, nullptr, "tg.broadcast"},
    {"aten.roll.default", "self:T shifts:IL dims:IL?", roll, nullptr, "tg.slice, tg.concat"},
};

ArrayRef<OpRow> braid::torch::composedRows() { return kComposedRows; }
