//===- Random.cpp - random numbers ----------------------------------------===//
//
// Random numbers are functions of the run's key and of a stream for each call. They have PyTorch's distributions, and
// other values. No gradient flows through them.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Torch/Translator.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

/// Uniform numbers in [0, 1) in f32, in the shape of the result.
static Value uniform(CallBuilder &call) {
  RankedTensorType type = tg::withElement(call.resultTensor(), call.builder.getF32Type());
  return call.make<tg::RandomUniformOp>(type, call.key(), static_cast<uint64_t>(call.nextStream()));
}

/// Converts random floats to the type of the result.
static Values finished(CallBuilder &call, Value numbers) {
  Type element = call.resultTensor().getElementType();
  if (!isa<FloatType>(element))
    return {call.fail("only of floats")};
  return {call.convert(numbers, element)};
}

static Values uniformBetween(CallBuilder &call) {
  double from = call.number("from", 0), to = call.number("to", 1);
  Value numbers = uniform(call);
  if (to - from != 1)
    numbers = call.mul(numbers, to - from);
  return finished(call, from == 0 ? numbers : call.add(numbers, from));
}

/// sqrt(-2 log(1 - u)) cos(2 pi v) of two uniform numbers (Box and Muller 1958).
static Values normal(CallBuilder &call) {
  Value u = uniform(call), v = uniform(call);
  Value radius = call.sqrt(call.mul(call.log(call.sub(call.constantLike(u, 1), u)), -2));
  Value numbers = call.mul(radius, call.cos(call.mul(v, 2 * M_PI)));
  if (double deviation = call.number("std", 1); deviation != 1)
    numbers = call.mul(numbers, deviation);
  if (double mean = call.number("mean", 0); mean != 0)
    numbers = call.add(numbers, mean);
  return finished(call, numbers);
}

/// -log(1 - u) / lambd.
static Values exponential(CallBuilder &call) {
  Value u = uniform(call);
  return finished(call, call.mul(call.log(call.sub(call.constantLike(u, 1), u)), -1 / call.number("lambd", 1)));
}

/// 1 with a probability: a number, which an export leaves out if it is 0.5, or one for each element.
template <bool hasNumber> static Values bernoulli(CallBuilder &call) {
  Type f32 = call.builder.getF32Type();
  Value probability = hasNumber ? call.constant(tg::withElement(call.resultTensor(), f32), call.number("p", 0.5))
                                : call.operand("self", f32);
  Value isOne = call.compare(arith::CmpFPredicate::OLT, uniform(call), probability);
  return finished(call, call.convert(isOne, f32));
}

/// Whole numbers from low to high - 1.
static Values integers(CallBuilder &call) {
  int64_t low = call.integer("low"), high = call.integer("high");
  constexpr int64_t kMost = 1 << 24;
  if (high - low < 1 || high - low > kMost || !call.resultTensor().getElementType().isInteger(32))
    return {call.fail("takes from 1 to 2^24 integers")};
  Value scaled = call.mul(uniform(call), high - low);
  Value whole = call.convert(call.make<math::FloorOp>(scaled), call.builder.getI32Type());
  // A product may be rounded up to the number of integers.
  Value below = call.make<arith::MinSIOp>(whole, call.constantLike(whole, high - low - 1));
  return {call.make<arith::AddIOp>(below, call.filled(tg::typeOf(below), low))};
}

/// Dropout of whole channels: all elements behind the first two dims share a draw.
static Values channelDropout(CallBuilder &call) {
  Value input = call.tensor("input");
  double rate = call.number("p");
  RankedTensorType type = tg::typeOf(input);
  if (!(rate >= 0 && rate < 1) || !tg::isFloat(input) || type.getRank() < 2)
    return {call.fail("takes floats with channels, and a rate of at least 0 and less than 1")};
  if (!call.boolean("train") || rate == 0)
    return {input};
  Value ones = call.constant(tg::withShape(type, type.getShape().take_front(2)), 1);
  Value kept = call.make<tg::DropoutOp>(ones.getType(), ones, call.key(), call.builder.getF64FloatAttr(rate),
                                        call.builder.getI64IntegerAttr(call.nextStream()));
  return {call.mul(input, call.broadcast(kept, type, {0, 1}))};
}

static constexpr StringLiteral kRandomIgnored = "dtype device layout pin_memory memory_format";

static constexpr OpRow kRandomRows[] = {
    {"aten.rand.default", "size:IL", uniformBetween, nullptr, "tg.random_uniform", kRandomIgnored},
    {"aten.rand_like.default", "self:T", uniformBetween, nullptr, "tg.random_uniform", kRandomIgnored},
    {"aten.uniform_.default", "self:T from:N? to:N?", uniformBetween, nullptr, "tg.random_uniform"},
    {"aten.randn.default", "size:IL", normal, nullptr, "two tg.random_uniform", kRandomIgnored},
    {"aten.randn_like.default", "self:T", normal, nullptr, "two tg.random_uniform", kRandomIgnored},
    {"aten.normal_.default", "self:T mean:N? std:N?", normal, nullptr, "two tg.random_uniform"},
    {"aten.exponential_.default", "self:T lambd:N?", exponential, nullptr, "tg.random_uniform, math.log"},
    {"aten.bernoulli.default", "self:T", bernoulli<false>, nullptr, "a comparison with tg.random_uniform"},
    {"aten.bernoulli.p", "self:T p:N", bernoulli<true>, nullptr, "a comparison with tg.random_uniform"},
    {"aten.bernoulli_.float", "self:T p:N?", bernoulli<true>, nullptr, "a comparison with tg.random_uniform"},
    {"aten.randint.default", "high:I size:IL", integers, nullptr, "tg.random_uniform", kRandomIgnored},
    {"aten.randint.low", "low:I high:I size:IL", integers, nullptr, "tg.random_uniform", kRandomIgnored},
    {"aten.feature_dropout.default", "input:T p:N train:B", channelDropout, nullptr, "tg.dropout"},
};

ArrayRef<OpRow> braid::torch::randomRows() { return kRandomRows; }
