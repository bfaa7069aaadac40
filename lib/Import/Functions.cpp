//===- Functions.cpp - functions of floats, as formulas -------------------===//

#include "lib/Import/Functions.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;

using FP = arith::CmpFPredicate;

static constexpr double kPi = llvm::numbers::pi;

/// The value of a polynomial. Coefficients begin with the highest power.
Value FunctionBuilder::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = constant(x, coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = b.add(b.mul(sum, x), coefficient);
  return sum;
}

/// Returns `value`, whose gradient with respect to `x` is `slope`. All must be finite.
Value FunctionBuilder::withSlope(Value value, Value x, llvm::function_ref<Value()> slope) {
  if (hasGradients)
    return value;
  Value fixed = stopped(value), scale = stopped(slope());
  return b.add(fixed, b.mul(scale, b.sub(x, stopped(x))));
}

Value FunctionBuilder::where(FP predicate, Value a, double limit, Value yes, Value no) {
  return b.select(b.compare(predicate, a, constant(a, limit)), yes, no);
}

Value FunctionBuilder::magnitude(Value x) { return where(FP::OLT, x, 0, b.neg(x), x); }

//===----------------------------------------------------------------------===//
// Circular and hyperbolic functions
//===----------------------------------------------------------------------===//

Value FunctionBuilder::tan(Value x) {
  Value sine = b.sin(x);
  return b.div(sine, b.cos(x));
}

/// The angle of a tangent between -1 and 1. Above tan(pi / 8) it is pi / 4 more than that of (x - 1) / (x + 1).
Value FunctionBuilder::smallAngle(Value x) {
  constexpr double kEighth = 0.4142135623730950;
  Value a = absolute(x), less = b.add(a, -1.0);
  Value turned = b.div(less, b.add(a, 1.0));
  Value reduced = where(FP::OGT, a, kEighth, turned, a), z = b.square(reduced);
  Value series = polynomial(z, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
  Value angle = b.add(b.mul(b.mul(series, z), reduced), reduced);
  angle = where(FP::OGT, a, kEighth, b.add(angle, kPi / 4), angle);
  return withSlope(withSign(angle, x), x, [&] {
    Value one = constant(x, 1);
    return b.div(one, b.add(b.square(x), 1.0));
  });
}

/// Divides the coordinate that is smaller in magnitude by the other. At (0, 0) the gradient is 0.
Value FunctionBuilder::atan2(Value y, Value x) {
  Value height = absolute(y), isSteep = b.compare(FP::OGT, height, absolute(x));
  Value small = b.select(isSteep, x, y), big = b.select(isSteep, y, x);
  Value isZero = b.compare(FP::OEQ, big, b.zeros(tg::typeOf(big)));
  Value ratio = b.div(small, b.select(isZero, constant(big, 1), big));
  Value angle = smallAngle(b.select(isZero, b.zeros(tg::typeOf(big)), ratio));
  auto withSignOfY = [&](double number) { return stopped(withSign(constant(y, number), y)); };
  Value behind = b.add(angle, withSignOfY(kPi)), side = withSign(constant(x, 1), x); // -0 is behind, too
  Value flat = where(FP::OLT, side, 0, behind, angle);
  return b.select(isSteep, b.sub(withSignOfY(kPi / 2), angle), flat);
}

Value FunctionBuilder::atan(Value x) { return atan2(x, constant(x, 1)); }

/// sqrt(1 - x^2).
Value FunctionBuilder::besideOne(Value x) {
  Value less = b.sub(constant(x, 1), x);
  return b.sqrt(b.mul(less, b.add(x, 1.0)));
}
Value FunctionBuilder::asin(Value x) { return atan2(x, besideOne(x)); }
Value FunctionBuilder::acos(Value x) { return atan2(besideOne(x), x); }

/// (exp(x) - exp(-x)) / 2, without cancellation. The halves do not overflow before the difference does.
Value FunctionBuilder::sinh(Value x) {
  Value rising = b.mul(b.make<math::ExpM1Op>(x), 0.5), falling = b.mul(b.make<math::ExpM1Op>(b.neg(x)), 0.5);
  Value near = b.sub(rising, falling), half = constant(x, -llvm::numbers::ln2), size = magnitude(x);
  Value far = b.exp(b.add(size, half));
  return where(FP::OGT, size, 80, where(FP::OLT, x, 0, b.neg(far), far), near);
}

/// (exp(x) + exp(-x)) / 2, where the halves do not overflow before the sum does.
Value FunctionBuilder::cosh(Value x) {
  constexpr double kHalf = -llvm::numbers::ln2;
  Value rising = b.exp(b.add(x, kHalf));
  return b.add(rising, b.exp(b.add(b.neg(x), kHalf)));
}

/// Arguments of logarithms whose squares might overflow; the logarithm of twice such a number is as good.
static constexpr double kLarge = 1e10;

Value FunctionBuilder::logOfTwice(Value x, Value otherwise) {
  Value large = where(FP::OGT, x, kLarge, x, constant(x, 1)), log = b.add(b.log(large), llvm::numbers::ln2);
  return where(FP::OGT, x, kLarge, log, otherwise);
}

/// log(|x| + sqrt(x^2 + 1)), with the sign of x.
Value FunctionBuilder::asinh(Value x) {
  Value size = magnitude(x), a = where(FP::OGT, size, kLarge, constant(x, 1), size);
  Value divisor = b.add(b.sqrt(b.add(b.square(a), 1.0)), 1.0);
  Value log = b.make<math::Log1pOp>(b.add(a, b.mul(a, b.div(a, divisor))));
  log = logOfTwice(size, log);
  return where(FP::OLT, x, 0, b.neg(log), log);
}

/// log(x + sqrt((x - 1) (x + 1))).
Value FunctionBuilder::acosh(Value x) {
  Value a = where(FP::OGT, x, kLarge, constant(x, 1), x), less = b.add(a, -1.0), more = b.add(a, 1.0);
  return logOfTwice(x, b.make<math::Log1pOp>(b.add(less, b.sqrt(b.mul(less, more)))));
}

/// log((1 + x) / (1 - x)) / 2.
Value FunctionBuilder::atanh(Value x) {
  Value above = b.make<math::Log1pOp>(x);
  Value below = b.make<math::Log1pOp>(b.neg(x));
  return b.mul(b.sub(above, below), 0.5);
}

//===----------------------------------------------------------------------===//
// Roots and error functions
//===----------------------------------------------------------------------===//

/// |x|^(1/3), with the sign of x. The power is computed of 1 where x is 0.
Value FunctionBuilder::cubeRoot(Value x) {
  Value a = magnitude(x), base = where(FP::OEQ, a, 0, constant(a, 1), a);
  Value root = b.pow(base, constant(a, 1.0 / 3));
  root = where(FP::OLT, x, 0, b.neg(root), root);
  return where(FP::OEQ, x, 0, x, root);
}

/// XLA's polynomials (Giles, "Approximating the erfinv function", 2010): of w = -log(1 - x^2), or of its root.
Value FunctionBuilder::erfInverse(Value x) {
  Value w = b.neg(b.make<math::Log1pOp>(b.neg(b.square(x))));
  auto choose = [&](Value low, Value high) { return where(FP::OLT, w, 5, low, high); };
  Value low = b.add(w, -2.5), high = b.add(b.sqrt(w), -3.0), argument = choose(low, high);
  constexpr double kLow[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                             -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  constexpr double kHigh[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                              -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  Value sum;
  for (auto [ofLow, ofHigh] : zip_equal(kLow, kHigh)) {
    Value first = constant(x, ofLow), coefficient = choose(first, constant(x, ofHigh));
    sum = sum ? b.add(b.mul(sum, argument), coefficient) : coefficient;
  }
  Value size = absolute(x), isEnd = b.compare(FP::OEQ, size, constant(x, 1)), finite = b.mul(sum, x);
  Value value = withSlope(finite, x, [&] {
    Value slope = b.mul(b.exp(b.square(finite)), std::sqrt(kPi) / 2), zero = b.zeros(tg::typeOf(x));
    return b.select(isEnd, zero, slope);
  });
  return b.select(isEnd, stopped(withSign(constant(x, HUGE_VAL), x)), value);
}

/// Below 1 it is 1 - erf(x), else one of Cephes' polynomials of 1 / x^2. It is 0 or 2 beyond kEnd, and so infinite
/// operands need not be computed.
Value FunctionBuilder::erfComplement(Value operand) {
  constexpr double kEnd = 28;
  Value x = b.make<arith::MinimumFOp>(b.max(operand, -kEnd), constant(operand, kEnd)), one = constant(x, 1);
  Value near = b.sub(one, b.erf(x));
  Value a = b.make<arith::MaximumFOp>(absolute(x), one), inverse = b.div(one, a), y = b.square(inverse);
  Value low = polynomial(y, {2.326819970068386e-2, -1.387039388740657e-1, 3.687424674597105e-1, -5.824733027278666e-1,
                             6.210004621745983e-1, -4.944515323274145e-1, 3.404879937665872e-1, -2.741127028184656e-1,
                             5.638259427386472e-1});
  Value high = polynomial(y, {-1.047766399936249e+1, 1.297719955372516e+1, -7.495518717768503, 2.921019019210786,
                              -1.015265279202700, 4.218463358204948e-1, -2.820767439740514e-1, 5.641895067754075e-1});
  Value curve = b.mul(b.exp(b.neg(b.square(a))), inverse);
  Value far = b.mul(curve, where(FP::OLT, a, 2, low, high));
  far = where(FP::OLT, x, 0, b.sub(constant(x, 2), far), far);
  return withSlope(where(FP::OGT, a, 1, far, near), x,
                   [&] { return b.mul(b.exp(b.neg(b.square(x))), -2 / std::sqrt(kPi)); });
}

//===----------------------------------------------------------------------===//
// Steps and remainders
//===----------------------------------------------------------------------===//

Value FunctionBuilder::sign(Value a) {
  Value x = stopped(a), zero = b.zeros(tg::typeOf(x)), negative = where(FP::OLT, x, 0, constant(x, -1), zero);
  return where(FP::OGT, x, 0, constant(x, 1), negative);
}

Value FunctionBuilder::floor(Value x) { return stopped(b.make<math::FloorOp>(x)); }
Value FunctionBuilder::ceil(Value x) { return stopped(b.make<math::CeilOp>(x)); }

Value FunctionBuilder::trunc(Value x) {
  Value up = b.make<math::CeilOp>(x);
  return stopped(where(FP::OLT, x, 0, up, b.make<math::FloorOp>(x)));
}

Value FunctionBuilder::roundToEven(Value x) {
  Value low = b.make<math::FloorOp>(x), rest = b.sub(x, low);
  Value half = b.make<math::FloorOp>(b.mul(low, 0.5)), isOdd = b.compare(FP::UNE, b.mul(half, 2), low);
  Value isTie = b.compare(FP::OEQ, rest, constant(x, 0.5)), isAbove = b.compare(FP::OGT, rest, constant(x, 0.5));
  Value goesUp = b.make<arith::OrIOp>(isAbove, b.make<arith::AndIOp>(isTie, isOdd));
  return stopped(b.select(goesUp, b.add(low, 1.0), low));
}

Value FunctionBuilder::roundFromZero(Value x) {
  Value a = absolute(x), low = b.make<math::FloorOp>(a), rest = b.sub(a, low);
  Value rounded = where(FP::OGE, rest, 0.5, b.add(low, 1.0), low);
  return stopped(withSign(rounded, x));
}

/// A rounded quotient may be 1 too large; the remainder then has the other sign than `dividend`.
Value FunctionBuilder::remainder(Value dividend, Value divisor) {
  Value quotient = b.div(dividend, divisor);
  Value whole = stopped(withSign(b.make<math::FloorOp>(absolute(quotient)), quotient));
  Value rest = b.make<math::FmaOp>(b.neg(whole), divisor, dividend), zero = b.zeros(tg::typeOf(dividend));
  auto differs = [&](FP ofRest, FP ofDividend) {
    Value first = b.compare(ofRest, rest, zero);
    return b.make<arith::AndIOp>(first, b.compare(ofDividend, dividend, zero));
  };
  Value isBelow = differs(FP::OLT, FP::OGT), isAbove = differs(FP::OGT, FP::OLT), step = magnitude(divisor);
  Value lowered = b.select(isAbove, b.sub(rest, step), rest);
  Value exact = b.select(isBelow, b.add(rest, step), lowered);
  // An infinite divisor leaves a finite dividend as it is.
  Value isInfinite = b.compare(FP::OEQ, step, constant(step, HUGE_VAL));
  Value isFinite = b.compare(FP::OLT, absolute(dividend), constant(dividend, HUGE_VAL));
  return b.select(b.make<arith::AndIOp>(isInfinite, isFinite), dividend, exact);
}
