//===- Functions.cpp - functions, quotients and remainders of numbers -----===//

#include "lib/Import/Functions.h"
#include "lib/Import/StableHLO/Evaluate.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

//===----------------------------------------------------------------------===//
// Functions of floats
//===----------------------------------------------------------------------===//

/// Checks that the operands and the result are floats of one type.
static bool areFloats(SourceOp &op) {
  for (unsigned i = 0; i < op.numOperands(); ++i)
    if (op.operandType(i) != op.resultType() || !op.isFloatResult()) {
      op.fail("is supported only of floats of one type");
      return false;
    }
  return true;
}

/// A whole step has its own gradients.
static FunctionBuilder functionsOf(SourceOp &op) { return FunctionBuilder(op, /*hasGradients=*/op.isStep()); }

// Functions are computed in float32 at least.
template <Value (FunctionBuilder::*function)(Value)> static Values one(SourceOp &op) {
  if (!areFloats(op))
    return {};
  return {op.convert((functionsOf(op).*function)(op.widen(op.tensor(0))), op.element())};
}
template <Value (FunctionBuilder::*function)(Value, Value)> static Values two(SourceOp &op) {
  if (!areFloats(op))
    return {};
  Value first = op.widen(op.tensor(0)), second = op.widen(op.tensor(1));
  return {op.convert((functionsOf(op).*function)(first, second), op.element())};
}

/// JAX writes GELU with erfc; the pattern has 1 - erf(x). So a loss has that first, and the translator replaces what no
/// pattern has taken.
static Values erfComplement(SourceOp &op) {
  if (op.isStep())
    return one<&FunctionBuilder::erfComplement>(op);
  if (!areFloats(op))
    return {};
  Value x = op.tensor(0), erf = op.erf(x), complement = op.sub(op.constantLike(x, 1), erf);
  complement.getDefiningOp()->setAttr(kErfComplement, op.builder.getUnitAttr());
  return {complement};
}

//===----------------------------------------------------------------------===//
// Quotients and remainders of integers
//===----------------------------------------------------------------------===//

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

static Values divide(SourceOp &op) {
  if (!op.isFloatResult())
    return integerDivision<arith::DivSIOp, /*isRemainder=*/false>(op);
  return areFloats(op) ? Values{op.div(op.tensor(0), op.tensor(1))} : Values{};
}
static Values remainderOf(SourceOp &op) {
  return op.isFloatResult() ? two<&FunctionBuilder::remainder>(op)
                            : integerDivision<arith::RemSIOp, /*isRemainder=*/true>(op);
}
using F = FunctionBuilder;

static double nextAfter(double x, double y) { return std::nextafterf(static_cast<float>(x), static_cast<float>(y)); }
static double quotientOf(double x, double y) { return x / y; }

static constexpr OpRow kFunctionRows[] = {
    {"stablehlo.tan", 1, "", one<&F::tan>, evaluateOne<std::tan>, "math.sin, cos", kResultAccuracy},
    {"chlo.sinh", 1, "", one<&F::sinh>, evaluateOne<std::sinh>, "math.expm1", kResultAccuracy},
    {"chlo.cosh", 1, "", one<&F::cosh>, evaluateOne<std::cosh>, "math.exp", kResultAccuracy},
    {"chlo.asin", 1, "", one<&F::asin>, evaluateOne<std::asin>, "a polynomial", kResultAccuracy},
    {"chlo.acos", 1, "", one<&F::acos>, evaluateOne<std::acos>, "a polynomial", kResultAccuracy},
    {"chlo.atan", 1, "", one<&F::atan>, evaluateOne<std::atan>, "a polynomial", kResultAccuracy},
    {"chlo.asinh", 1, "", one<&F::asinh>, evaluateOne<std::asinh>, "math.log1p, sqrt", kResultAccuracy},
    {"chlo.acosh", 1, "", one<&F::acosh>, evaluateOne<std::acosh>, "math.log1p, sqrt", kResultAccuracy},
    {"chlo.atanh", 1, "", one<&F::atanh>, evaluateOne<std::atanh>, "math.log1p", kResultAccuracy},
    {"stablehlo.atan2", 2, "", two<&F::atan2>, evaluateTwo<std::atan2, /*ofIntegers=*/false>, "a polynomial",
     kResultAccuracy},
    {"stablehlo.cbrt", 1, "", one<&F::cubeRoot>, evaluateOne<std::cbrt>, "math.powf", kResultAccuracy},
    {"chlo.erfc", 1, "", erfComplement, nullptr, "tg.gelu, or 1 - math.erf below 1 and a polynomial from 1 on",
     kResultAccuracy},
    {"chlo.erf_inv", 1, "", one<&F::erfInverse>, nullptr, "XLA's polynomials", kResultAccuracy},
    {"stablehlo.round_nearest_even", 1, "", one<&F::roundToEven>, evaluateOne<std::nearbyint>, "math.floor"},
    {"stablehlo.round_nearest_afz", 1, "", one<&F::roundFromZero>, evaluateOne<std::round>, "math.floor"},
    {"chlo.next_after", 2, "", nullptr, evaluateTwo<nextAfter, /*ofIntegers=*/false>, "known values"},
    {"stablehlo.divide", 2, "", divide, evaluateDivision<quotientOf>, "arith.divf; arith.divsi by a known number", "",
     true},
    {"stablehlo.remainder", 2, "", remainderOf, evaluateDivision<std::fmod>,
     "math.floor, fma, for quotients below 2^24; arith.remsi by a known number", "", true},
};

ArrayRef<OpRow> braid::stablehlo::functionRows() { return kFunctionRows; }
