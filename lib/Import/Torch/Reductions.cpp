//===- Reductions.cpp - sums, means, maxima -------------------------------===//

#include "lib/Import/Torch/Indices.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

std::optional<SmallVector<int64_t>> braid::torch::reducedDims(CallBuilder &call) {
  int64_t rank = call.typeOfArgument("self").shape.size();
  Integers given = call.integers("dim");
  if (call.isNumber("dim"))
    given = {call.integer("dim")};
  if (given.empty() || rank == 0)
    return tg::dimRange(0, rank);
  SmallVector<int64_t> dims;
  for (int64_t dim : given) {
    int64_t from = dim < 0 ? dim + rank : dim;
    if (from < 0 || from >= rank || is_contained(dims, from)) {
      call.fail("dim " + Twine(dim) + " is none of the tensor's, or stands twice");
      return std::nullopt;
    }
    dims.push_back(from);
  }
  llvm::sort(dims);
  return dims;
}

// Integers up to 2^24 are exact.
Value braid::torch::countable(CallBuilder &call) {
  Value a = call.tensor("self");
  constexpr int64_t kMost = 1 << 24;
  Interval all = tg::typeOf(a).getElementType().isInteger(1) ? Interval{0, 1} : intervalOf(a);
  int64_t most = std::max(std::abs(all.low), std::abs(all.high));
  if (most > kMost / tg::typeOf(a).getNumElements())
    return call.fail("of integers is supported only where the sum of their largest values is at most 2^24, as of "
                     "conditions; convert to floats before");
  return call.convert(a, call.builder.getF32Type());
}

template <tg::ReduceKind kind> static Values reduce(CallBuilder &call) {
  std::optional<SmallVector<int64_t>> dims = reducedDims(call);
  if (!dims)
    return {};
  Type element = call.resultTensor().getElementType();
  bool isFloat = isa<FloatType>(element);
  if (!isFloat && (kind != tg::ReduceKind::Sum || tg::isFloat(call.tensor("self"))))
    return {call.fail("of integers is not supported")};
  Value input = isFloat ? call.convert(call.tensor("self"), element) : countable(call);
  if (!input)
    return {};
  Value result = call.convert(call.reduce(kind, input, *dims), element);
  return {call.reshape(result, call.resultType().shape)};
}

/// All or any of conditions: the largest of 0 and 1.
template <bool isAll> static Values truth(CallBuilder &call) {
  std::optional<SmallVector<int64_t>> dims = reducedDims(call);
  if (!dims)
    return {};
  Value a = call.asCondition(call.tensor("self"));
  Value any = anyOf(call, isAll ? negated(call, a) : a, *dims);
  return {call.reshape(isAll ? negated(call, any) : any, call.resultType().shape)};
}

static MaybeKnown evaluateAll(CallBuilder &call) {
  const MaybeKnown &a = call.known("self");
  std::optional<std::vector<double>> numbers;
  if (a && !a->splat())
    numbers = a->numbers();
  if (!a || (!a->splat() && !numbers))
    return std::nullopt;
  return known::boolean({}, a->splat() ? *a->splat() != 0 : all_of(*numbers, [](double x) { return x != 0; }));
}

/// A product of the parts along a dim, or of all elements.
static Values product(CallBuilder &call) {
  Value a = call.tensor("self");
  constexpr int64_t kMostParts = 64;
  if (!call.has("dim"))
    a = call.reshape(a, {tg::typeOf(a).getNumElements()});
  int64_t dim = call.has("dim") ? call.dim("dim", tg::typeOf(a).getRank()) : 0;
  if (dim < 0)
    return {};
  if (!tg::isFloat(a) || tg::typeOf(a).getDimSize(dim) > kMostParts)
    return {call.fail("only of floats, along at most " + Twine(kMostParts) + " elements")};
  Value result = call.slice(a, dim, 0, 1);
  for (int64_t i = 1; i < tg::typeOf(a).getDimSize(dim); ++i)
    result = call.mul(result, call.slice(a, dim, i, 1));
  return {call.reshape(result, call.resultType().shape)};
}

/// sum((x - mean)^2) / (n - correction).
static Values variance(CallBuilder &call) {
  std::optional<SmallVector<int64_t>> dims = reducedDims(call);
  Value input = call.tensor("self");
  if (!dims || !tg::isFloat(input))
    return {};
  ArrayRef<int64_t> shape = tg::typeOf(input).getShape();
  double count = 1;
  for (int64_t dim : *dims)
    count *= shape[dim];
  double divisor = count - (call.has("correction") ? call.number("correction") : call.boolean("unbiased", true));
  if (divisor <= 0)
    return {call.fail("of " + std::to_string(count) + " elements, fewer than the correction needs")};
  SmallVector<int64_t> kept = tg::otherDims(*dims, shape.size());
  Value mean = call.broadcast(call.reduce(tg::ReduceKind::Mean, input, *dims), tg::typeOf(input), kept);
  Value sum = call.reduce(tg::ReduceKind::Sum, call.square(call.sub(input, mean)), *dims);
  return {call.reshape(call.mul(sum, 1 / divisor), call.resultType().shape)};
}

/// The root of the variance. Where that is 0 the gradient is 0, and not infinite.
static Values deviation(CallBuilder &call) {
  Values squares = variance(call);
  if (squares.size() != 1 || !squares[0])
    return {};
  Value zero = call.zeros(tg::typeOf(squares[0]));
  Value isZero = call.compare(arith::CmpFPredicate::OEQ, squares[0], zero);
  Value root = call.sqrt(call.select(isZero, call.constantLike(zero, 1), squares[0]));
  return {call.select(isZero, zero, root)};
}

template <bool isDeviation> static Values withMean(CallBuilder &call) {
  Values results = isDeviation ? deviation(call) : variance(call);
  std::optional<SmallVector<int64_t>> dims = reducedDims(call);
  if (results.size() != 1 || !results[0] || !dims || call.numResults() != 2)
    return {};
  results.push_back(
      call.reshape(call.reduce(tg::ReduceKind::Mean, call.tensor("self"), *dims), call.resultType(1).shape));
  return results;
}

/// The largest of the negated elements, negated.
static Values smallest(CallBuilder &call) {
  std::optional<SmallVector<int64_t>> dims = reducedDims(call);
  if (!dims || !tg::isFloat(call.tensor("self")))
    return {call.fail("only of floats")};
  Value result = call.neg(call.reduce(tg::ReduceKind::Max, call.neg(call.tensor("self")), *dims));
  return {call.reshape(result, call.resultType().shape)};
}

static constexpr OpRow kReductionsRows[] = {
    {"aten.sum.default", "self:T", reduce<tg::ReduceKind::Sum>, nullptr, "tg.reduce sum", "dtype"},
    {"aten.sum.dim_IntList", "self:T dim:IL? keepdim:B?", reduce<tg::ReduceKind::Sum>, nullptr, "tg.reduce sum",
     "dtype"},
    {"aten.mean.default", "self:T", reduce<tg::ReduceKind::Mean>, nullptr, "tg.reduce mean", "dtype"},
    {"aten.mean.dim", "self:T dim:IL? keepdim:B?", reduce<tg::ReduceKind::Mean>, nullptr, "tg.reduce mean", "dtype"},
    {"aten.amax.default", "self:T dim:IL? keepdim:B?", reduce<tg::ReduceKind::Max>, nullptr, "tg.reduce max"},
    {"aten.max.default", "self:T", reduce<tg::ReduceKind::Max>, nullptr, "tg.reduce max"},
    {"aten.any.default", "self:T", truth<false>, nullptr, "tg.reduce max"},
    {"aten.any.dim", "self:T dim:I keepdim:B?", truth<false>, nullptr, "tg.reduce max"},
    {"aten.any.dims", "self:T dim:IL? keepdim:B?", truth<false>, nullptr, "tg.reduce max"},
    {"aten.all.default", "self:T", truth<true>, evaluateAll, "tg.reduce max"},
    {"aten.all.dim", "self:T dim:I keepdim:B?", truth<true>, nullptr, "tg.reduce max"},
    {"aten.all.dims", "self:T dim:IL? keepdim:B?", truth<true>, nullptr, "tg.reduce max"},
    {"aten.prod.default", "self:T", product, nullptr, "arith.mulf", "dtype"},
    {"aten.prod.dim_int", "self:T dim:I keepdim:B?", product, nullptr, "arith.mulf", "dtype"},
    {"aten.min.default", "self:T", smallest, nullptr, "tg.reduce max"},
    {"aten.amin.default", "self:T dim:IL? keepdim:B?", smallest, nullptr, "tg.reduce max"},
    {"aten.std.correction", "self:T dim:IL? correction:N? keepdim:B?", deviation, nullptr, "tg.reduce, math.sqrt"},
    {"aten.std.dim", "self:T dim:IL? unbiased:B? keepdim:B?", deviation, nullptr, "tg.reduce, math.sqrt"},
    {"aten.var.correction", "self:T dim:IL? correction:N? keepdim:B?", variance, nullptr, "tg.reduce"},
    {"aten.var.dim", "self:T dim:IL? unbiased:B? keepdim:B?", variance, nullptr, "tg.reduce"},
    {"aten.var_mean.correction", "self:T dim:IL? correction:N? keepdim:B?", withMean<false>, nullptr, "tg.reduce"},
    {"aten.var_mean.dim", "self:T dim:IL? unbiased:B? keepdim:B?", withMean<false>, nullptr, "tg.reduce"},
    {"aten.std_mean.correction", "self:T dim:IL? correction:N? keepdim:B?", withMean<true>, nullptr,
     "tg.reduce, math.sqrt"},
    {"aten.std_mean.dim", "self:T dim:IL? unbiased:B? keepdim:B?", withMean<true>, nullptr, "tg.reduce, math.sqrt"},
};

ArrayRef<OpRow> braid::torch::reductionRows() { return kReductionsRows; }
