//===- Functions.cpp - functions of numbers, as formulas ------------------===//
//
// Kernels have no code of their own for these functions. XLA and Cephes have the same polynomials, with errors below
// 2^-22 in float32.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/StableHLO/Evaluate.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

static constexpr double kPi = llvm::numbers::pi;

/// Checks that the operands and the result are floats of one type.
static bool areFloats(SourceOp &op) {
  for (unsigned i = 0; i < op.numOperands(); ++i)
    if (op.operandType(i) != op.resultType() || !op.isFloatResult()) {
      op.fail("is supported only of floats of one type");
      return false;
    }
  return true;
}

/// The value of a polynomial. Coefficients begin with the highest power.
static Value polynomial(SourceOp &op, Value x, ArrayRef<double> coefficients) {
  Value sum = op.constantLike(x, coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = op.add(op.mul(sum, x), coefficient);
  return sum;
}

/// Returns `value`, whose gradient with respect to `x` is `slope`. Both must be finite. Polynomials have derivatives
/// that are less exact. A whole step has its own gradients.
static Value withSlope(SourceOp &op, Value value, Value x, Value slope) {
  if (op.isStep())
    return value;
  auto stopped = [&](Value a) { return op.make<tg::StopGradientOp>(a); };
  return op.add(stopped(value), op.mul(stopped(slope), op.sub(x, stopped(x))));
}

static Value where(SourceOp &op, arith::CmpFPredicate predicate, Value a, double limit, Value yes, Value no) {
  return op.select(op.compare(predicate, a, op.constantLike(a, limit)), yes, no);
}

/// |x|, whose gradient is 1 at 0.
static Value magnitude(SourceOp &op, Value x) { return where(op, arith::CmpFPredicate::OLT, x, 0, op.neg(x), x); }

//===----------------------------------------------------------------------===//
// Circular and hyperbolic functions
//===----------------------------------------------------------------------===//

static Value tangent(SourceOp &op, Value x) {
  Value sine = op.sin(x);
  return op.div(sine, op.cos(x));
}

/// (exp(x) - exp(-x)) / 2, without cancellation.
static Value sinh(SourceOp &op, Value x) {
  return op.mul(op.sub(op.make<math::ExpM1Op>(x), op.make<math::ExpM1Op>(op.neg(x))), 0.5);
}

/// (exp(x) + exp(-x)) / 2, where the halves do not overflow before the sum does.
static Value cosh(SourceOp &op, Value x) {
  double half = -llvm::numbers::ln2;
  return op.add(op.exp(op.add(x, half)), op.exp(op.add(op.neg(x), half)));
}

/// log(|x| + sqrt(x^2 + 1)), with the sign of x.
static Value asinh(SourceOp &op, Value x) {
  Value a = magnitude(op, x), root = op.sqrt(op.add(op.square(a), 1.0));
  Value log = op.make<math::Log1pOp>(op.add(a, op.mul(a, op.div(a, op.add(root, 1.0)))));
  return where(op, arith::CmpFPredicate::OLT, x, 0, op.neg(log), log);
}

/// log(x + sqrt((x - 1) (x + 1))).
static Value acosh(SourceOp &op, Value x) {
  Value less = op.add(x, -1.0);
  return op.make<math::Log1pOp>(op.add(less, op.sqrt(op.mul(less, op.add(x, 1.0)))));
}

/// log((1 + x) / (1 - x)) / 2.
static Value atanh(SourceOp &op, Value x) {
  return op.mul(op.sub(op.make<math::Log1pOp>(x), op.make<math::Log1pOp>(op.neg(x))), 0.5);
}

/// The angle of a tangent between -1 and 1. Above tan(pi / 8) it is pi / 4 more than that of (x - 1) / (x + 1).
static Value smallAngle(SourceOp &op, Value x) {
  constexpr double kEighth = 0.4142135623730950;
  Value a = op.make<math::AbsFOp>(x);
  Value turned = op.div(op.add(a, -1.0), op.add(a, 1.0));
  Value reduced = where(op, arith::CmpFPredicate::OGT, a, kEighth, turned, a), z = op.square(reduced);
  Value series = polynomial(op, z, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
  Value angle = op.add(op.mul(op.mul(series, z), reduced), reduced);
  angle = where(op, arith::CmpFPredicate::OGT, a, kEighth, op.add(angle, kPi / 4), angle);
  angle = op.make<math::CopySignOp>(angle, x);
  return withSlope(op, angle, x, op.div(op.constantLike(x, 1), op.add(op.square(x), 1.0)));
}

/// The angle of a point. Of both coordinates the smaller one in magnitude is divided by the other.
static Value angleOf(SourceOp &op, Value y, Value x) {
  auto above = arith::CmpFPredicate::OGT;
  Value isSteep = op.compare(above, op.make<math::AbsFOp>(y), op.make<math::AbsFOp>(x));
  Value small = op.select(isSteep, x, y), big = op.select(isSteep, y, x);
  Value divisor = where(op, arith::CmpFPredicate::OEQ, big, 0, op.constantLike(big, 1), big);
  Value angle = smallAngle(op, op.div(small, divisor));
  auto signed_ = [&](double number) {
    return op.make<tg::StopGradientOp>(op.make<math::CopySignOp>(op.constantLike(y, number), y));
  };
  Value flat = where(op, arith::CmpFPredicate::OLT, x, 0, op.add(angle, signed_(kPi)), angle);
  return op.select(isSteep, op.sub(signed_(kPi / 2), angle), flat);
}

static Value atan(SourceOp &op, Value x) { return angleOf(op, x, op.constantLike(x, 1)); }

/// sqrt(1 - x^2).
static Value besideOne(SourceOp &op, Value x) {
  return op.sqrt(op.mul(op.sub(op.constantLike(x, 1), x), op.add(x, 1.0)));
}
static Value asin(SourceOp &op, Value x) { return angleOf(op, x, besideOne(op, x)); }
static Value acos(SourceOp &op, Value x) { return angleOf(op, besideOne(op, x), x); }

//===----------------------------------------------------------------------===//
// Roots, error functions
//===----------------------------------------------------------------------===//

/// |x|^(1/3), with the sign of x. The power is computed of 1 where x is 0.
static Value cubeRoot(SourceOp &op, Value x) {
  Value a = magnitude(op, x);
  Value root =
      op.pow(where(op, arith::CmpFPredicate::OEQ, a, 0, op.constantLike(a, 1), a), op.constantLike(a, 1.0 / 3));
  root = where(op, arith::CmpFPredicate::OLT, x, 0, op.neg(root), root);
  return where(op, arith::CmpFPredicate::OEQ, x, 0, x, root);
}

/// XLA's polynomials (Giles, "Approximating the erfinv function", 2010): of w = -log(1 - x^2), or of its root.
static Value erfInverse(SourceOp &op, Value x) {
  Value w = op.neg(op.make<math::Log1pOp>(op.neg(op.square(x))));
  auto choose = [&](Value low, Value high) { return where(op, arith::CmpFPredicate::OLT, w, 5, low, high); };
  Value argument = choose(op.add(w, -2.5), op.add(op.sqrt(w), -3.0));
  constexpr double kLow[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                             -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  constexpr double kHigh[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                              -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  Value low = op.constantLike(x, kLow[0]), high = op.constantLike(x, kHigh[0]), sum = choose(low, high);
  for (auto [a, b] : zip_equal(ArrayRef(kLow).drop_front(), ArrayRef(kHigh).drop_front()))
    sum = op.add(op.mul(sum, argument), choose(op.constantLike(x, a), op.constantLike(x, b)));
  Value value = op.mul(sum, x),
        isEnd = op.compare(arith::CmpFPredicate::OEQ, op.make<math::AbsFOp>(x), op.constantLike(x, 1));
  Value slope = op.mul(op.exp(op.square(value)), std::sqrt(kPi) / 2);
  value = withSlope(op, value, x, op.select(isEnd, op.zeros(tg::typeOf(x)), slope));
  Value end = op.make<tg::StopGradientOp>(op.make<math::CopySignOp>(op.constantLike(x, HUGE_VAL), x));
  return op.select(isEnd, end, value);
}

/// 1 - erf(x), whose rounding errors are small beside 1, as in GELU, but not beside erfc(x). From 1 on a whole step has
/// Cephes' polynomials of 1 / x^2.
static Values erfComplement(SourceOp &op) {
  if (!areFloats(op))
    return {};
  Value x = op.tensor(0), near = op.sub(op.constantLike(x, 1), op.erf(x));
  op.requirePattern(near, "is supported only in GELU, x / 2 * erfc(-x / sqrt(2)); write 1 - erf(x)");
  if (!op.isStep())
    return {near};
  Value a = op.make<arith::MaximumFOp>(op.make<math::AbsFOp>(x), op.constantLike(x, 1));
  Value inverse = op.div(op.constantLike(x, 1), a), y = op.square(inverse);
  Value low = polynomial(op, y,
                         {2.326819970068386e-2, -1.387039388740657e-1, 3.687424674597105e-1, -5.824733027278666e-1,
                          6.210004621745983e-1, -4.944515323274145e-1, 3.404879937665872e-1, -2.741127028184656e-1,
                          5.638259427386472e-1});
  Value high = polynomial(op, y,
                          {-1.047766399936249e+1, 1.297719955372516e+1, -7.495518717768503, 2.921019019210786,
                           -1.015265279202700, 4.218463358204948e-1, -2.820767439740514e-1, 5.641895067754075e-1});
  Value far =
      op.mul(op.mul(op.exp(op.neg(op.square(a))), inverse), where(op, arith::CmpFPredicate::OLT, a, 2, low, high));
  far = where(op, arith::CmpFPredicate::OLT, x, 0, op.sub(op.constantLike(x, 2), far), far);
  return {where(op, arith::CmpFPredicate::OGT, a, 1, far, near)};
}

//===----------------------------------------------------------------------===//
// Rounding, remainders
//===----------------------------------------------------------------------===//

/// Rounds to the nearest integer; halves to the even one.
static Value roundToEven(SourceOp &op, Value x) {
  Value low = op.make<math::FloorOp>(x), above = op.sub(x, low);
  Value half = op.make<math::FloorOp>(op.mul(low, 0.5)), isOdd = op.sub(low, op.mul(half, 2.0));
  Value isHalf = op.compare(arith::CmpFPredicate::OEQ, above, op.constantLike(x, 0.5));
  Value up = op.make<arith::AndIOp>(isHalf, op.compare(arith::CmpFPredicate::OEQ, isOdd, op.constantLike(x, 1)));
  up = op.make<arith::OrIOp>(up, op.compare(arith::CmpFPredicate::OGT, above, op.constantLike(x, 0.5)));
  return op.make<tg::StopGradientOp>(op.select(up, op.add(low, 1.0), low));
}

/// Rounds to the nearest integer; halves away from 0.
static Value roundFromZero(SourceOp &op, Value x) {
  Value a = op.make<math::AbsFOp>(x), low = op.make<math::FloorOp>(a);
  Value rounded = where(op, arith::CmpFPredicate::OGE, op.sub(a, low), 0.5, op.add(low, 1.0), low);
  return op.make<tg::StopGradientOp>(op.make<math::CopySignOp>(rounded, x));
}

/// a - b trunc(a / b). A rounded quotient may be 1 too large; the remainder then has the other sign than a.
static Value remainder(SourceOp &op, Value a, Value b) {
  Value quotient = op.div(a, b);
  Value whole = op.make<math::FloorOp>(op.make<math::AbsFOp>(quotient));
  whole = op.make<tg::StopGradientOp>(op.make<math::CopySignOp>(whole, quotient));
  Value rest = op.make<math::FmaOp>(op.neg(whole), b, a), zero = op.zeros(tg::typeOf(a));
  Value isBelow = op.make<arith::AndIOp>(op.compare(arith::CmpFPredicate::OLT, rest, zero),
                                         op.compare(arith::CmpFPredicate::OGT, a, zero));
  Value isAbove = op.make<arith::AndIOp>(op.compare(arith::CmpFPredicate::OGT, rest, zero),
                                         op.compare(arith::CmpFPredicate::OLT, a, zero));
  Value step = magnitude(op, b);
  return op.select(isBelow, op.add(rest, step), op.select(isAbove, op.sub(rest, step), rest));
}

/// The remainder of bits as an unsigned number: of the upper 24 bits, then of these 32.
static Value unsignedRemainder(SourceOp &op, Value bits, int64_t divisor) {
  RankedTensorType type = tg::typeOf(bits);
  auto number = [&](int64_t n) { return op.constant(type, static_cast<double>(n)); };
  if (isPowerOf2_64(divisor))
    return op.make<arith::AndIOp>(bits, number(divisor - 1));
  auto rest = [&](Value a) { return op.make<arith::RemSIOp>(a, number(divisor)); };
  Value upper = op.make<arith::AndIOp>(op.make<arith::ShRSIOp>(bits, number(8)), number(0xFFFFFF));
  Value shifted = op.make<arith::ShLIOp>(rest(upper), number(8));
  return rest(op.make<arith::OrIOp>(shifted, op.make<arith::AndIOp>(bits, number(0xFF))));
}

/// The quotient or the remainder of integers by a known number. 0 and -1 would need checks in the kernel.
template <class Op, bool isRemainder> static Values integerDivision(SourceOp &op) {
  double divisor = op.known(1) ? op.known(1)->splat().value_or(0) : 0;
  bool hasType =
           op.operandType(0) == op.resultType() && op.operandType(1) == op.resultType() && op.element().isInteger(32),
       isOfBits = isUnsigned(op.op->getResult(0).getType());
  if (!hasType || divisor == 0 || divisor == -1)
    return {op.fail("of integers is supported only by a known number other than 0 and -1")};
  if (!isOfBits)
    return {op.make<Op>(op.tensor(0), op.tensor(1))};
  constexpr int64_t kMaxDivisor = 1 << 23;
  if (!isRemainder || divisor < 0 || (divisor > kMaxDivisor && !isPowerOf2_64(static_cast<int64_t>(divisor))))
    return {op.fail("of unsigned integers is supported only as a remainder by a power of 2, or by at most 2^23")};
  return {unsignedRemainder(op, op.tensor(0), static_cast<int64_t>(divisor))};
}

/// Divides known floats, and single known integers: a large table of integers could not become a constant. Bits are an
/// unsigned number, so they must not have a sign here.
template <double (*function)(double, double)> static MaybeKnown evaluateDivision(SourceOp &op) {
  if (op.isFloatResult())
    return evaluateTwo<function>(op);
  bool isNumber = op.known(0) && op.known(0)->splat();
  double a = isNumber ? op.known(0)->splat().value_or(0) : 0, b = op.known(1) ? op.known(1)->splat().value_or(0) : 0;
  bool hasSign = isUnsigned(op.op->getResult(0).getType()) && (a < 0 || b < 0);
  return isNumber && b != 0 && !hasSign ? evaluateTwo<function>(op) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <Value (*function)(SourceOp &, Value)> static Values one(SourceOp &op) {
  return areFloats(op) ? Values{function(op, op.tensor(0))} : Values{};
}
template <Value (*function)(SourceOp &, Value, Value)> static Values two(SourceOp &op) {
  return areFloats(op) ? Values{function(op, op.tensor(0), op.tensor(1))} : Values{};
}

static Value quotient(SourceOp &op, Value a, Value b) { return op.div(a, b); }
static Values divide(SourceOp &op) {
  return op.isFloatResult() ? two<quotient>(op) : integerDivision<arith::DivSIOp, /*isRemainder=*/false>(op);
}
static Values remainderOf(SourceOp &op) {
  return op.isFloatResult() ? two<remainder>(op) : integerDivision<arith::RemSIOp, /*isRemainder=*/true>(op);
}
static double nextAfter(double x, double y) { return std::nextafterf(static_cast<float>(x), static_cast<float>(y)); }
static double quotientOf(double x, double y) { return x / y; }

static constexpr OpRow kFunctionRows[] = {
    {"stablehlo.tan", 1, "", one<tangent>, evaluateOne<std::tan>, "math.sin, cos", kResultAccuracy},
    {"chlo.sinh", 1, "", one<sinh>, evaluateOne<std::sinh>, "math.expm1", kResultAccuracy},
    {"chlo.cosh", 1, "", one<cosh>, evaluateOne<std::cosh>, "math.exp", kResultAccuracy},
    {"chlo.asin", 1, "", one<asin>, evaluateOne<std::asin>, "a polynomial", kResultAccuracy},
    {"chlo.acos", 1, "", one<acos>, evaluateOne<std::acos>, "a polynomial", kResultAccuracy},
    {"chlo.atan", 1, "", one<atan>, evaluateOne<std::atan>, "a polynomial", kResultAccuracy},
    {"chlo.asinh", 1, "", one<asinh>, evaluateOne<std::asinh>, "math.log1p, sqrt", kResultAccuracy},
    {"chlo.acosh", 1, "", one<acosh>, evaluateOne<std::acosh>, "math.log1p, sqrt", kResultAccuracy},
    {"chlo.atanh", 1, "", one<atanh>, evaluateOne<std::atanh>, "math.log1p", kResultAccuracy},
    {"stablehlo.atan2", 2, "", two<angleOf>, evaluateTwo<std::atan2, /*ofIntegers=*/false>, "a polynomial",
     kResultAccuracy},
    {"stablehlo.cbrt", 1, "", one<cubeRoot>, evaluateOne<std::cbrt>, "math.powf", kResultAccuracy},
    {"chlo.erfc", 1, "", erfComplement, nullptr, "1 - erf(x); in a whole step a polynomial from 1 on", kResultAccuracy},
    {"chlo.erf_inv", 1, "", one<erfInverse>, nullptr, "XLA's polynomials", kResultAccuracy},
    {"stablehlo.round_nearest_even", 1, "", one<roundToEven>, evaluateOne<std::nearbyint>, "math.floor"},
    {"stablehlo.round_nearest_afz", 1, "", one<roundFromZero>, evaluateOne<std::round>, "math.floor"},
    {"chlo.next_after", 2, "", nullptr, evaluateTwo<nextAfter, /*ofIntegers=*/false>, "known values"},
    {"stablehlo.divide", 2, "", divide, evaluateDivision<quotientOf>, "arith.divf; arith.divsi by a known number", "",
     true},
    {"stablehlo.remainder", 2, "", remainderOf, evaluateDivision<std::fmod>,
     "math.floor, fma, for quotients below 2^24; arith.remsi by a known number", "", true},
};

ArrayRef<OpRow> braid::stablehlo::functionRows() { return kFunctionRows; }
