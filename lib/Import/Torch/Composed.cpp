//===- Composed.cpp - ops as formulas of other ops ------------------------===//

#include "lib/Import/Torch/Losses.h"
#include "lib/Import/Torch/Translator.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

using Values = SmallVector<Value>;

/// Returns the first operand as floats, or null after an error.
static Value floatsOf(CallBuilder &call, StringRef name = "self") {
  Value a = call.tensor(name);
  return tg::isFloat(a) ? a : call.fail("only of floats");
}

/// Exchanges a dim with the last one.
static Value swapLast(CallBuilder &call, Value a, int64_t dim) {
  int64_t rank = tg::typeOf(a).getRank();
  if (dim == rank - 1)
    return a;
  SmallVector<int64_t> permutation = tg::dimRange(0, rank);
  std::swap(permutation[dim], permutation[rank - 1]);
  return call.transpose(a, permutation);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static Values square(CallBuilder &call) {
  Value a = floatsOf(call);
  return a ? Values{call.square(a)} : Values{};
}

static Values clampMin(CallBuilder &call) {
  Value a = floatsOf(call);
  return a ? Values{call.max(a, call.number("min"))} : Values{};
}
static Values clampMax(CallBuilder &call) {
  Value a = floatsOf(call);
  return a ? Values{call.make<arith::MinimumFOp>(a, call.constantLike(a, call.number("max")))} : Values{};
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

static Values logSumExpOf(CallBuilder &call) {
  Value a = floatsOf(call);
  int64_t rank = call.typeOfArgument("self").shape.size();
  Integers dims = call.integers("dim");
  if (!a || dims.size() != 1 || (dims[0] != -1 && dims[0] != rank - 1))
    return {call.fail("only along the last dim")};
  return {call.reshape(logSumExp(call, a), call.resultType().shape)};
}

/// The root of the sum of squares. Its gradient where all are 0 is 0.
static Values vectorNorm(CallBuilder &call) {
  Value a = floatsOf(call);
  if (!a || call.number("ord", 2) != 2)
    return {call.fail("only the norm of order 2, of floats")};
  int64_t rank = tg::typeOf(a).getRank();
  SmallVector<int64_t> dims;
  for (int64_t dim : call.integers("dim"))
    dims.push_back(dim < 0 ? dim + rank : dim);
  llvm::sort(dims);
  dims = dims.empty() ? tg::dimRange(0, rank) : dims;
  if (dims.front() < 0 || dims.back() >= rank || std::adjacent_find(dims.begin(), dims.end()) != dims.end())
    return {call.fail("a dim is none of the tensor's, or stands twice")};
  Value sum = call.sum(call.square(a), dims);
  Value isZero = call.compare(arith::CmpFPredicate::OEQ, sum, call.constantLike(sum, 0));
  Value root = call.sqrt(call.select(isZero, call.constantLike(sum, 1), sum));
  return {call.reshape(call.select(isZero, call.constantLike(sum, 0), root), call.resultType().shape)};
}

/// Sums of the elements up to each one: a product with a triangle of ones.
static Values runningSum(CallBuilder &call) {
  Value a = call.tensor("self");
  int64_t dim = call.dim("dim", tg::typeOf(a).getRank());
  if (dim < 0)
    return {};
  if (!tg::isFloat(a) || a.getType() != call.resultTensor())
    return {call.fail("is supported only of floats, and of values that do not depend on inputs or parameters")};
  Value last = swapLast(call, a, dim);
  int64_t size = tg::typeOf(last).getShape().back(), rows = tg::typeOf(last).getNumElements() / size;
  RankedTensorType square = RankedTensorType::get({size, size}, call.builder.getI32Type());
  Value isBefore =
      call.compare(arith::CmpIPredicate::sle, call.make<tg::IotaOp>(square, 1), call.make<tg::IotaOp>(square, 0));
  Value ones = call.convert(isBefore, tg::typeOf(a).getElementType());
  Value sums = call.contract("rn,mn->rm", call.reshape(last, {rows, size}), ones);
  return {swapLast(call, call.reshape(sums, tg::typeOf(last).getShape()), dim)};
}
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
  if (!call.boolean("largest", true) || k < 1 || k > tg::typeOf(a).getDimSize(dim))
    return {call.fail("takes the largest values, from 1 to " + Twine(tg::typeOf(a).getDimSize(dim)))};
  auto [values, indices] = largest(call, a, dim, k);
  return {values, indices};
}

static Values maxOfDim(CallBuilder &call) {
  Value a = floatsOf(call);
  int64_t dim = a ? call.dim("dim", tg::typeOf(a).getRank()) : -1;
  if (dim < 0)
    return {};
  auto [values, indices] = largest(call, a, dim, 1);
  return {call.reshape(values, call.resultType(0).shape), call.reshape(indices, call.resultType(1).shape)};
}

static Values argMax(CallBuilder &call) {
  Value a = floatsOf(call);
  if (a && !call.has("dim"))
    a = call.reshape(a, {tg::typeOf(a).getNumElements()});
  int64_t dim = a ? call.dim("dim", tg::typeOf(a).getRank(), -1) : -1;
  return dim < 0 ? Values{} : Values{call.reshape(largest(call, a, dim, 1).second, call.resultType().shape)};
}

/// 1 where an index is the lane's number: indices in front, lanes last.
static Value lanesOf(CallBuilder &call, Value indices, int64_t lanes) {
  SmallVector<int64_t> shape(tg::typeOf(indices).getShape());
  shape.push_back(lanes);
  RankedTensorType wide = tg::withShape(tg::typeOf(indices), shape);
  Value repeated = call.broadcast(indices, wide, tg::dimRange(0, shape.size() - 1));
  return call.compare(arith::CmpIPredicate::eq, repeated, call.make<tg::IotaOp>(wide, shape.size() - 1));
}

static Values oneHot(CallBuilder &call) {
  Value indices = call.tensor("self");
  if (!tg::typeOf(indices).getElementType().isInteger(32))
    return {call.fail("only of integers")};
  return {call.convert(lanesOf(call, indices, call.resultType().shape.back()), call.builder.getI32Type())};
}

/// Elements along a dim by an index for each result: the sum over lanes of those that the index names.
Values braid::torch::gatherLanes(CallBuilder &call) {
  StringRef indexName = call.has("index") ? "index" : "indices";
  Value a = floatsOf(call), index = call.tensor(indexName);
  int64_t dim = a ? call.dim("dim", tg::typeOf(a).getRank()) : -1;
  if (dim < 0 || tg::typeOf(index).getRank() != tg::typeOf(a).getRank())
    return {call.fail("the index has another number of dims than the tensor")};
  Value rows = swapLast(call, a, dim), picks = swapLast(call, index, dim);
  SmallVector<int64_t> lead(tg::typeOf(rows).getShape().drop_back());
  if (ArrayRef<int64_t>(lead) != tg::typeOf(picks).getShape().drop_back() ||
      !tg::typeOf(index).getElementType().isInteger(32))
    return {call.fail("the index has other sizes than the tensor, besides the dim")};
  Value isPicked = lanesOf(call, picks, tg::typeOf(rows).getShape().back());
  RankedTensorType wide = tg::withElement(tg::typeOf(isPicked), tg::typeOf(a).getElementType());
  SmallVector<int64_t> dims = tg::dimRange(0, lead.size());
  dims.push_back(lead.size() + 1);
  Value repeated = call.broadcast(rows, wide, dims);
  Value picked = call.sum(call.select(isPicked, repeated, call.zeros(wide)), {static_cast<int64_t>(lead.size()) + 1});
  return {swapLast(call, picked, dim)};
}

//===----------------------------------------------------------------------===//
// Norms of groups, repeats
//===----------------------------------------------------------------------===//

/// batch x channels x space: each group of channels has a norm, each channel a scale and a bias.
static Values groupNorm(CallBuilder &call) {
  Value input = floatsOf(call, "input");
  if (!input)
    return {};
  ArrayRef<int64_t> shape = tg::typeOf(input).getShape();
  int64_t groups = call.integer("num_groups");
  if (shape.size() < 2 || groups < 1 || shape[1] % groups)
    return {call.fail(Twine(groups) + " groups do not divide the channels")};
  int64_t size = tg::typeOf(input).getNumElements() / shape[0] / groups;
  Value rows = call.reshape(input, {shape[0], groups, size});
  Value ones = call.constant(RankedTensorType::get({size}, tg::typeOf(input).getElementType()), 1);
  Value norm = call.make<tg::LayerNormOp>(rows, ones, Value(), call.builder.getF64FloatAttr(call.number("eps", 1e-5)));
  Value result = call.reshape(norm, shape);
  for (StringRef name : {"weight", "bias"}) {
    if (!call.has(name))
      continue;
    Value channel = call.tensor(name);
    if (tg::typeOf(channel) != RankedTensorType::get({shape[1]}, tg::typeOf(input).getElementType()))
      return {call.fail(name + " has another size than the channels")};
    Value wide = call.broadcast(channel, tg::typeOf(input), {1});
    result = name == "weight" ? call.mul(result, wide) : call.add(result, wide);
  }
  return {result};
}

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
  return {a};
}

static constexpr OpRow kComposedRows[] = {
    {"aten.square.default", "self:T", square, nullptr, "arith.mulf"},
    {"aten.clamp_min.default", "self:T min:N", clampMin, nullptr, "arith.maximumf"},
    {"aten.clamp_max.default", "self:T max:N", clampMax, nullptr, "arith.minimumf"},
    {"aten.leaky_relu.default", "self:T negative_slope:N?", leakyRelu, nullptr, "arith.select"},
    {"aten.glu.default", "self:T dim:I?", glu, nullptr, "the first half times the sigmoid of the second"},
    {"aten.addcmul.default", "self:T tensor1:T tensor2:T value:N?", addProduct, nullptr, "arith.mulf, addf"},
    {"aten.tril.default", "self:T diagonal:I?", triangular<true>, evaluateTriangular<true>, "arith.select"},
    {"aten.triu.default", "self:T diagonal:I?", triangular<false>, evaluateTriangular<false>, "arith.select"},
    {"aten.logsumexp.default", "self:T dim:IL keepdim:B?", logSumExpOf, nullptr, "tg.reduce"},
    {"aten.log_softmax.int", "self:T dim:I dtype:D?", logSoftmax, nullptr, "tg.reduce"},
    {"aten.linalg_vector_norm.default", "self:T ord:N? dim:IL? keepdim:B?", vectorNorm, nullptr, "tg.reduce"},
    {"aten.cumsum.default", "self:T dim:I", runningSum, evaluateRunningSum, "tg.contract with a triangle of ones",
     "dtype"},
    {"aten.topk.default", "self:T k:I dim:I? largest:B?", topK, nullptr, "tg.top_k", "sorted"},
    {"aten.max.dim", "self:T dim:I keepdim:B?", maxOfDim, nullptr, "tg.top_k"},
    {"aten.argmax.default", "self:T dim:I? keepdim:B?", argMax, nullptr, "tg.top_k"},
    {"aten.one_hot.default", "self:T num_classes:I?", oneHot, nullptr, "a comparison with tg.iota"},
    {"aten.take_along_dim.default", "self:T indices:T dim:I?", gatherLanes, nullptr, "a sum over lanes"},
    {"aten.group_norm.default", "input:T num_groups:I weight:T? bias:T? eps:N?", groupNorm, nullptr, "tg.layer_norm",
     "cudnn_enabled"},
    {"aten.repeat.default", "self:T repeats:IL", repeat, nullptr, "tg.broadcast"},
    {"aten.roll.default", "self:T shifts:IL dims:IL?", roll, nullptr, "tg.slice, tg.concat"},
};

ArrayRef<OpRow> braid::torch::composedRows() { return kComposedRows; }
