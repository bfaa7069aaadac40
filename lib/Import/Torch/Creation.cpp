//===- Creation.cpp - tensors from numbers --------------------------------===//

#include "lib/Import/Torch/Translator.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

static Values filled(CallBuilder &call, double value) { return {call.filled(call.resultTensor(), value)}; }
static MaybeKnown evaluateFilled(CallBuilder &call, double value) {
  ArrayRef<int64_t> shape = call.resultType().shape;
  if (call.resultTensor().getElementType().isInteger(1))
    return known::boolean(shape, value != 0);
  if (value != std::floor(value) || std::abs(value) > INT32_MAX)
    return std::nullopt;
  return known::constant(shape, static_cast<int64_t>(value));
}

static Values zeros(CallBuilder &call) { return filled(call, 0); }
static Values ones(CallBuilder &call) { return filled(call, 1); }
static Values full(CallBuilder &call) { return filled(call, call.number("fill_value")); }
static MaybeKnown evaluateZeros(CallBuilder &call) { return evaluateFilled(call, 0); }
static MaybeKnown evaluateOnes(CallBuilder &call) { return evaluateFilled(call, 1); }
static Values scalar(CallBuilder &call) { return filled(call, call.number("s")); }
static MaybeKnown evaluateScalar(CallBuilder &call) { return evaluateFilled(call, call.number("s")); }
static MaybeKnown evaluateFull(CallBuilder &call) { return evaluateFilled(call, call.number("fill_value")); }

/// A range of integers, in the type of the result.
static MaybeKnown evaluateRange(CallBuilder &call) {
  double start = call.number("start", 0), step = call.number("step", 1);
  if (start != std::floor(start) || step != std::floor(step) || std::abs(start) > INT32_MAX ||
      std::abs(step) > INT32_MAX || call.resultType().shape.size() != 1)
    return std::nullopt;
  return known::range(call.resultType().shape[0], static_cast<int64_t>(start), static_cast<int64_t>(step));
}
static Values range(CallBuilder &call) {
  if (call.resultType().shape.size() != 1 || call.resultTensor().getElementType().isInteger(1))
    return {call.fail("the result is no range")};
  RankedTensorType integers = tg::withElement(call.resultTensor(), call.builder.getI32Type());
  Type element = call.resultTensor().getElementType();
  Value index = call.convert(call.make<tg::IotaOp>(integers, 0), element);
  if (!isa<FloatType>(element))
    return {call.fail("of these numbers is not supported")};
  if (double step = call.number("step", 1); step != 1)
    index = call.mul(index, step);
  if (double start = call.number("start", 0))
    index = call.add(index, start);
  return {index};
}

/// 1 where both indices are equal.
static MaybeKnown evaluateEye(CallBuilder &call) {
  const auto &shape = call.resultType().shape;
  return shape.size() == 2 ? known::isEqual(Known{shape, Affine{{1, 0}, 0}}, Known{shape, Affine{{0, 1}, 0}})
                           : std::nullopt;
}
static Values eye(CallBuilder &call) {
  Operand ones{{}, evaluateEye(call)};
  bool hasFailed = false;
  return {materialize(ones, call.resultTensor(), call.builder, call.loc, hasFailed)};
}

static constexpr StringLiteral kIgnored = "dtype device layout pin_memory";

static constexpr OpRow kCreationRows[] = {
    {"aten.arange.default", "end:N", range, evaluateRange, "tg.iota", kIgnored},
    {"aten.arange.start", "start:N end:N", range, evaluateRange, "tg.iota", kIgnored},
    {"aten.arange.start_step", "start:N end:N step:N?", range, evaluateRange, "tg.iota", kIgnored},
    {"aten.eye.default", "n:I", eye, evaluateEye, "a comparison of tg.iota", kIgnored},
    {"aten.eye.m", "n:I m:I", eye, evaluateEye, "a comparison of tg.iota", kIgnored},
    {"aten.zeros.default", "size:IL", zeros, evaluateZeros, "a constant", kIgnored},
    {"aten.ones.default", "size:IL", ones, evaluateOnes, "a constant", kIgnored},
    {"aten.full.default", "size:IL fill_value:N", full, evaluateFull, "a constant", kIgnored},
    {"aten.zeros_like.default", "self:T", zeros, evaluateZeros, "a constant", kIgnored},
    {"aten.ones_like.default", "self:T", ones, evaluateOnes, "a constant", kIgnored},
    {"aten.full_like.default", "self:T fill_value:N", full, evaluateFull, "a constant", kIgnored},
    {"aten.new_zeros.default", "self:T size:IL", zeros, evaluateZeros, "a constant", kIgnored},
    {"aten.new_ones.default", "self:T size:IL", ones, evaluateOnes, "a constant", kIgnored},
    {"aten.new_full.default", "self:T size:IL fill_value:N", full, evaluateFull, "a constant", kIgnored},
    {"aten.empty.memory_format", "size:IL", zeros, evaluateZeros, "zeros", kIgnored},
    {"aten.new_empty.default", "self:T size:IL", zeros, evaluateZeros, "zeros", kIgnored},
    {"aten.scalar_tensor.default", "s:N", scalar, evaluateScalar, "a constant", kIgnored},
};

ArrayRef<OpRow> braid::torch::creationRows() { return kCreationRows; }
