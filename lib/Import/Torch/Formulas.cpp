//===- Formulas.cpp - activations and functions as formulas ---------------===//
//
// Each op is a formula of one tensor. A branch that is not taken must not overflow, because its gradient would be
// 0 times infinity: exponents are cut at 0 first.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Torch/Translator.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

using Values = SmallVector<Value>;
using FP = arith::CmpFPredicate;

/// Builds an op of floats from a formula of its operand.
template <Value (*formula)(CallBuilder &, Value)> static Values formulaOf(CallBuilder &call) {
  Type element = call.resultTensor().getElementType();
  if (!isa<FloatType>(element))
    return {call.fail("only of floats")};
  return {formula(call, call.operand("self", element))};
}

static Value one(CallBuilder &b, Value a) { return b.constantLike(a, 1); }
static Value minimum(CallBuilder &b, Value a, double most) {
  return b.make<arith::MinimumFOp>(a, b.constantLike(a, most));
}
static Value isAbove(CallBuilder &b, Value a, double number) {
  return b.compare(FP::OGT, a, b.constantLike(a, number));
}
static Value log1p(CallBuilder &b, Value a) { return b.make<math::Log1pOp>(a); }
static Value expm1(CallBuilder &b, Value a) { return b.make<math::ExpM1Op>(a); }
static Value absolute(CallBuilder &b, Value a) { return b.make<math::AbsFOp>(a); }

//===----------------------------------------------------------------------===//
// Steps: their gradient is 0
//===----------------------------------------------------------------------===//

/// 1, 0 or -1; x where it is 0 or NaN.
static Value signOf(CallBuilder &b, Value a) {
  Value x = b.make<tg::StopGradientOp>(a), zero = b.zeros(tg::typeOf(x));
  Value negative = b.select(b.compare(FP::OLT, x, zero), b.constantLike(x, -1), x);
  return b.select(b.compare(FP::OGT, x, zero), one(b, x), negative);
}
static Value floorOf(CallBuilder &b, Value a) { return b.make<tg::StopGradientOp>(b.make<math::FloorOp>(a)); }
static Value ceilOf(CallBuilder &b, Value a) { return b.make<tg::StopGradientOp>(b.make<math::CeilOp>(a)); }
/// Toward zero.
static Value truncOf(CallBuilder &b, Value a) {
  Value isNegative = b.compare(FP::OLT, a, b.zeros(tg::typeOf(a)));
  return b.make<tg::StopGradientOp>(b.select(isNegative, b.make<math::CeilOp>(a), b.make<math::FloorOp>(a)));
}
/// To the nearest integer, and to the even one of two.
static Value roundOf(CallBuilder &b, Value a) {
  Value low = b.make<math::FloorOp>(a), rest = b.sub(a, low);
  Value half = b.make<math::FloorOp>(b.mul(low, 0.5));
  Value isOdd = b.compare(FP::UNE, b.mul(half, 2), low);
  Value isTie = b.compare(FP::OEQ, rest, b.constantLike(a, 0.5));
  Value goesUp = b.make<arith::OrIOp>(isAbove(b, rest, 0.5), b.make<arith::AndIOp>(isTie, isOdd));
  return b.make<tg::StopGradientOp>(b.select(goesUp, b.add(low, 1.0), low));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static Value exp2(CallBuilder &b, Value a) { return b.make<math::Exp2Op>(a); }
static Value log2(CallBuilder &b, Value a) { return b.mul(b.log(a), 1 / M_LN2); }
static Value log10(CallBuilder &b, Value a) { return b.mul(b.log(a), 1 / M_LN10); }
static Value tan(CallBuilder &b, Value a) { return b.div(b.sin(a), b.cos(a)); }
/// (u + u / (u + 1)) / 2 with u = exp(x) - 1, which loses no digits near 0.
static Value sinh(CallBuilder &b, Value a) {
  Value u = expm1(b, a);
  return b.mul(b.add(u, b.div(u, b.add(u, 1.0))), 0.5);
}
static Value cosh(CallBuilder &b, Value a) { return b.mul(b.add(b.exp(a), b.exp(b.neg(a))), 0.5); }
/// log(1 + 2x / (1 - x)) / 2.
static Value atanh(CallBuilder &b, Value a) { return b.mul(log1p(b, b.div(b.mul(a, 2), b.sub(one(b, a), a))), 0.5); }

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// scale * (x above 0, and else alpha * (exp(x * inner) - 1)).
static Value exponentialUnit(CallBuilder &b, Value a, double scale, double alpha, double inner) {
  Value below = minimum(b, a, 0);
  Value curve = b.mul(expm1(b, inner == 1 ? below : b.mul(below, inner)), alpha * scale);
  return b.select(isAbove(b, a, 0), scale == 1 ? a : b.mul(a, scale), curve);
}
static Value elu(CallBuilder &b, Value a) {
  return exponentialUnit(b, a, b.number("scale", 1), b.number("alpha", 1), b.number("input_scale", 1));
}
static Value celu(CallBuilder &b, Value a) {
  double alpha = b.number("alpha", 1);
  return alpha == 0 ? b.fail("alpha is 0") : exponentialUnit(b, a, 1, alpha, 1 / alpha);
}
static Value selu(CallBuilder &b, Value a) { return exponentialUnit(b, a, 1.0507009873554805, 1.6732632423543772, 1); }

/// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)).
static Value softplusOf(CallBuilder &b, Value a) { return b.add(b.max(a, 0), log1p(b, b.exp(b.neg(absolute(b, a))))); }
/// The line x above the threshold.
static Value softplus(CallBuilder &b, Value a) {
  double beta = b.number("beta", 1);
  if (beta == 0)
    return b.fail("beta is 0");
  Value scaled = b.mul(a, beta);
  return b.select(isAbove(b, scaled, b.number("threshold", 20)), a, b.mul(softplusOf(b, scaled), 1 / beta));
}
static Value mish(CallBuilder &b, Value a) { return b.mul(a, b.tanh(softplusOf(b, a))); }
static Value logSigmoid(CallBuilder &b, Value a) { return b.neg(softplusOf(b, b.neg(a))); }

/// Between two bounds. Beside them, and at them, the gradient is 0.
static Value hardTanhOf(CallBuilder &b, Value a, double low, double high) {
  Value aboveLow = b.select(b.compare(FP::OLE, a, b.constantLike(a, low)), b.constantLike(a, low), a);
  return b.select(b.compare(FP::OGE, a, b.constantLike(a, high)), b.constantLike(a, high), aboveLow);
}
static Value hardTanh(CallBuilder &b, Value a) {
  return hardTanhOf(b, a, b.number("min_val", -1), b.number("max_val", 1));
}
static Value relu6(CallBuilder &b, Value a) { return hardTanhOf(b, a, 0, 6); }
static Value hardSigmoid(CallBuilder &b, Value a) { return b.mul(hardTanhOf(b, b.add(a, 3.0), 0, 6), 1.0 / 6); }
static Value hardSwish(CallBuilder &b, Value a) { return b.mul(a, hardSigmoid(b, a)); }

/// x, and `weight` times x where that is below 0. There is a weight for each channel (dim 1), or one.
static Values prelu(CallBuilder &call) {
  Value a = call.tensor("self"), weight = call.tensor("weight");
  RankedTensorType type = tg::typeOf(a);
  int64_t count = tg::typeOf(weight).getNumElements();
  if (!tg::isFloat(a) || tg::typeOf(weight).getElementType() != type.getElementType() || type.getRank() < 1 ||
      (count != 1 && (type.getRank() < 2 || type.getDimSize(1) != count)))
    return {call.fail("the weight has another size than the channels")};
  Value wide = count == 1 ? call.broadcastScalar(call.reshape(weight, {}), a)
                          : call.broadcast(call.reshape(weight, {count}), type, {1});
  return {call.select(isAbove(call, a, 0), a, call.mul(wide, a))};
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

static Values isNan(CallBuilder &call) {
  Value a = call.tensor("self");
  return {tg::isFloat(a) ? call.compare(FP::UNO, a, a) : call.constant(call.resultTensor(), 0)};
}
static Values isFinite(CallBuilder &call) {
  Value a = call.tensor("self");
  if (!tg::isFloat(a))
    return {call.constant(call.resultTensor(), 1)};
  return {call.compare(FP::OLT, absolute(call, a), call.constantLike(a, HUGE_VAL))};
}

static constexpr OpRow kFormulaRows[] = {
    {"aten.sign.default", "self:T", formulaOf<signOf>, nullptr, "arith.select"},
    {"aten.floor.default", "self:T", formulaOf<floorOf>, nullptr, "math.floor"},
    {"aten.ceil.default", "self:T", formulaOf<ceilOf>, nullptr, "math.ceil"},
    {"aten.trunc.default", "self:T", formulaOf<truncOf>, nullptr, "math.floor, ceil"},
    {"aten.round.default", "self:T", formulaOf<roundOf>, nullptr, "math.floor"},
    {"aten.expm1.default", "self:T", formulaOf<expm1>, nullptr, "math.expm1"},
    {"aten.exp2.default", "self:T", formulaOf<exp2>, nullptr, "math.exp2"},
    {"aten.log2.default", "self:T", formulaOf<log2>, nullptr, "math.log"},
    {"aten.log10.default", "self:T", formulaOf<log10>, nullptr, "math.log"},
    {"aten.tan.default", "self:T", formulaOf<tan>, nullptr, "math.sin, cos"},
    {"aten.sinh.default", "self:T", formulaOf<sinh>, nullptr, "math.expm1"},
    {"aten.cosh.default", "self:T", formulaOf<cosh>, nullptr, "math.exp"},
    {"aten.atanh.default", "self:T", formulaOf<atanh>, nullptr, "math.log1p"},
    {"aten.elu.default", "self:T alpha:N? scale:N? input_scale:N?", formulaOf<elu>, nullptr, "math.expm1"},
    {"aten.celu.default", "self:T alpha:N?", formulaOf<celu>, nullptr, "math.expm1"},
    {"aten.selu.default", "self:T", formulaOf<selu>, nullptr, "math.expm1"},
    {"aten.softplus.default", "self:T beta:N? threshold:N?", formulaOf<softplus>, nullptr, "math.log1p, exp"},
    {"aten.mish.default", "self:T", formulaOf<mish>, nullptr, "math.tanh, log1p, exp"},
    {"aten.log_sigmoid.default", "self:T", formulaOf<logSigmoid>, nullptr, "math.log1p, exp"},
    {"aten.hardtanh.default", "self:T min_val:N? max_val:N?", formulaOf<hardTanh>, nullptr, "arith.select"},
    {"aten.relu6.default", "self:T", formulaOf<relu6>, nullptr, "arith.select"},
    {"aten.hardsigmoid.default", "self:T", formulaOf<hardSigmoid>, nullptr, "arith.select"},
    {"aten.hardswish.default", "self:T", formulaOf<hardSwish>, nullptr, "arith.select"},
    {"aten.prelu.default", "self:T weight:T", prelu, nullptr, "arith.select"},
    {"aten.isnan.default", "self:T", isNan, nullptr, "arith.cmpf"},
    {"aten.isfinite.default", "self:T", isFinite, nullptr, "a comparison of math.absf"},
};

ArrayRef<OpRow> braid::torch::formulaRows() { return kFormulaRows; }
