//===- Reductions.cpp - sums, means, maxima -------------------------------===//

#include "lib/Import/Torch/Translator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

using Values = SmallVector<Value>;

/// Returns the reduced dims, sorted; all of them if the call names none. Nothing after an error.
static std::optional<SmallVector<int64_t>> dimsOf(CallBuilder &call) {
  int64_t rank = call.typeOfArgument("self").shape.size();
  Integers given = call.integers("dim");
  if (given.empty())
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

template <tg::ReduceKind kind> static Values reduce(CallBuilder &call) {
  std::optional<SmallVector<int64_t>> dims = dimsOf(call);
  if (!dims)
    return {};
  Type element = call.resultTensor().getElementType();
  if (!isa<FloatType>(element))
    return {call.fail("of integers is not supported")};
  Value result = call.reduce(kind, call.convert(call.tensor("self"), element), *dims);
  return {call.reshape(result, call.resultType().shape)};
}

/// sum((x - mean)^2) / (n - correction).
static Values variance(CallBuilder &call) {
  std::optional<SmallVector<int64_t>> dims = dimsOf(call);
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

static Values deviation(CallBuilder &call) {
  Values squares = variance(call);
  return squares.size() == 1 && squares[0] ? Values{call.sqrt(squares[0])} : Values{};
}

/// The largest of the negated elements, negated.
static Values smallest(CallBuilder &call) {
  std::optional<SmallVector<int64_t>> dims = dimsOf(call);
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
    {"aten.amin.default", "self:T dim:IL? keepdim:B?", smallest, nullptr, "tg.reduce max"},
    {"aten.std.correction", "self:T dim:IL? correction:N? keepdim:B?", deviation, nullptr, "tg.reduce, math.sqrt"},
    {"aten.std.dim", "self:T dim:IL? unbiased:B? keepdim:B?", deviation, nullptr, "tg.reduce, math.sqrt"},
    {"aten.var.correction", "self:T dim:IL? correction:N? keepdim:B?", variance, nullptr, "tg.reduce"},
    {"aten.var.dim", "self:T dim:IL? unbiased:B? keepdim:B?", variance, nullptr, "tg.reduce"},
};

ArrayRef<OpRow> braid::torch::reductionRows() { return kReductionsRows; }
