//===- Formulas.cpp - activations and functions as formulas ---------------===//
//
// Each op is a formula of one tensor. A branch that is not taken must not overflow, because its gradient would be
// 0 times infinity: exponents are cut at 0 first.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Functions.h"
#include "lib/Import/Torch/Translator.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

using FP = arith::CmpFPredicate;

/// Builds an op of floats from a formula of its operand.
template <Value (*formula)(CallBuilder &, Value)> static Values formulaOf(CallBuilder &call) {
  Type element = call.resultTensor().getElementType();
  if (!isa<FloatType>(element))
    return {call.fail("only of floats")};
  return {formula(call, call.operand("self", element))};
}

static Value one(CallBuilder &b, Value a) { return b.constantLike(a, 1); }
static Value isAbove(CallBuilder &b, Value a, double number) {
  return b.compare(FP::OGT, a, b.constantLike(a, number));
}
static Value log1p(CallBuilder &b, Value a) { return b.make<math::Log1pOp>(a); }
static Value expm1(CallBuilder &b, Value a) { return b.make<math::ExpM1Op>(a); }
static Value absolute(CallBuilder &b, Value a) { return b.make<math::AbsFOp>(a); }

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

using F = FunctionBuilder;

/// Builds an op of floats as a function of its operand, in float32 at least.
template <Value (F::*function)(Value)> static Value as(CallBuilder &b, Value a) {
  return b.convert((F(b, /*hasGradients=*/false).*function)(b.widen(a)), b.resultElement());
}

/// Builds an op of floats as a function of two operands.
template <Value (*formula)(CallBuilder &, Value, Value)> static Values formulaOfTwo(CallBuilder &call) {
  if (!call.isFloatResult())
    return {call.fail("only of floats")};
  Value a = call.operand("self", call.resultElement());
  return {formula(call, a, call.operand("other", call.resultElement()))};
}
template <Value (F::*function)(Value, Value)> static Value asOfTwo(CallBuilder &b, Value first, Value second) {
  Value wide = b.widen(first), wideSecond = b.widen(second);
  return b.convert((F(b, /*hasGradients=*/false).*function)(wide, wideSecond), b.resultElement());
}

static Value exp2(CallBuilder &b, Value a) { return b.make<math::Exp2Op>(a); }
static Value log2(CallBuilder &b, Value a) { return b.mul(b.log(a), 1 / M_LN2); }
static Value log10(CallBuilder &b, Value a) { return b.mul(b.log(a), 1 / M_LN10); }
/// sin(pi x) / (pi x), and 1 at 0.
static Value sinc(CallBuilder &b, Value a) {
  Value isZero = b.compare(FP::OEQ, a, b.zeros(tg::typeOf(a))), angle = b.mul(b.select(isZero, one(b, a), a), M_PI);
  Value sine = b.sin(angle), ratio = b.div(sine, angle);
  return b.select(isZero, one(b, a), ratio);
}

/// The root of x^2 + y^2, without the squares of large numbers. At 0 the gradient is 0.
static Value hypot(CallBuilder &b, Value x, Value y) {
  Value a = absolute(b, x), c = absolute(b, y), larger = b.make<arith::MaximumFOp>(a, c);
  Value isZero = b.compare(FP::OEQ, larger, b.zeros(tg::typeOf(larger)));
  Value isInfinite = b.compare(FP::OEQ, larger, b.constantLike(larger, HUGE_VAL));
  isZero = b.make<arith::OrIOp>(isZero, isInfinite); // the root is the larger one there, too
  Value scale = b.make<tg::StopGradientOp>(b.select(isZero, one(b, larger), larger));
  Value first = b.square(b.div(x, scale)), sum = b.add(first, b.square(b.div(y, scale)));
  Value root = b.mul(scale, b.sqrt(b.select(isZero, one(b, sum), sum)));
  return b.select(isZero, larger, root);
}

/// |x| with the sign of y.
static Value copySign(CallBuilder &b, Value x, Value y) {
  Value sign = b.make<tg::StopGradientOp>(b.make<math::CopySignOp>(one(b, y), y));
  return b.mul(absolute(b, x), sign);
}

/// The larger, or smaller, operand; a number rather than NaN. Equal operands share the gradient.
template <class Op> static Value numberOf(CallBuilder &b, Value x, Value y) {
  Value both = b.make<Op>(x, y), hasFirst = b.select(b.compare(FP::UNO, x, x), y, both);
  return b.select(b.compare(FP::UNO, y, y), x, hasFirst);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// scale * (x above 0, and else alpha * (exp(x * inner) - 1)).
static Value exponentialUnit(CallBuilder &b, Value a, double scale, double alpha, double inner) {
  Value zero = b.zeros(tg::typeOf(a)), below = b.select(b.compare(FP::OGT, a, zero), zero, a);
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
    {"aten.sign.default", "self:T", formulaOf<as<&F::sign>>, nullptr, "arith.select"},
    {"aten.floor.default", "self:T", formulaOf<as<&F::floor>>, nullptr, "math.floor"},
    {"aten.ceil.default", "self:T", formulaOf<as<&F::ceil>>, nullptr, "math.ceil"},
    {"aten.trunc.default", "self:T", formulaOf<as<&F::trunc>>, nullptr, "math.floor, ceil"},
    {"aten.round.default", "self:T", formulaOf<as<&F::roundToEven>>, nullptr, "math.floor"},
    {"aten.expm1.default", "self:T", formulaOf<expm1>, nullptr, "math.expm1"},
    {"aten.exp2.default", "self:T", formulaOf<exp2>, nullptr, "math.exp2"},
    {"aten.log2.default", "self:T", formulaOf<log2>, nullptr, "math.log"},
    {"aten.log10.default", "self:T", formulaOf<log10>, nullptr, "math.log"},
    {"aten.tan.default", "self:T", formulaOf<as<&F::tan>>, nullptr, "math.sin, cos"},
    {"aten.sinh.default", "self:T", formulaOf<as<&F::sinh>>, nullptr, "math.expm1"},
    {"aten.cosh.default", "self:T", formulaOf<as<&F::cosh>>, nullptr, "math.exp"},
    {"aten.asin.default", "self:T", formulaOf<as<&F::asin>>, nullptr, "a polynomial"},
    {"aten.acos.default", "self:T", formulaOf<as<&F::acos>>, nullptr, "a polynomial"},
    {"aten.atan.default", "self:T", formulaOf<as<&F::atan>>, nullptr, "a polynomial"},
    {"aten.atan2.default", "self:T other:T", formulaOfTwo<asOfTwo<&F::atan2>>, nullptr, "a polynomial"},
    {"aten.asinh.default", "self:T", formulaOf<as<&F::asinh>>, nullptr, "math.log1p, sqrt"},
    {"aten.acosh.default", "self:T", formulaOf<as<&F::acosh>>, nullptr, "math.log1p, sqrt"},
    {"aten.atanh.default", "self:T", formulaOf<as<&F::atanh>>, nullptr, "math.log1p"},
    {"aten.erfc.default", "self:T", formulaOf<as<&F::erfComplement>>, nullptr, "1 - math.erf, a polynomial from 1 on"},
    {"aten.erfinv.default", "self:T", formulaOf<as<&F::erfInverse>>, nullptr, "a polynomial"},
    {"aten.fmod.Tensor", "self:T other:T", formulaOfTwo<asOfTwo<&F::remainder>>, nullptr, "math.floor, fma"},
    {"aten.fmod.Scalar", "self:T other:N", formulaOfTwo<asOfTwo<&F::remainder>>, nullptr, "math.floor, fma"},
    {"aten.sinc.default", "self:T", formulaOf<sinc>, nullptr, "math.sin"},
    {"aten.hypot.default", "self:T other:T", formulaOfTwo<hypot>, nullptr, "math.sqrt"},
    {"aten.copysign.Tensor", "self:T other:T", formulaOfTwo<copySign>, nullptr, "math.copysign"},
    {"aten.copysign.Scalar", "self:T other:N", formulaOfTwo<copySign>, nullptr, "math.copysign"},
    {"aten.fmax.default", "self:T other:T", formulaOfTwo<numberOf<arith::MaximumFOp>>, nullptr, "arith.maximumf"},
    {"aten.fmin.default", "self:T other:T", formulaOfTwo<numberOf<arith::MinimumFOp>>, nullptr, "arith.minimumf"},
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
