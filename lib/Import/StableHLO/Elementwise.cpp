//===- Elementwise.cpp - arithmetic, comparisons, choices -----------------===//

#include "lib/Import/StableHLO/Evaluate.h"
#include "lib/Import/StableHLO/Translator.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Whether all operands have the result's type.
static bool haveResultType(SourceOp &op) {
  for (unsigned i = 0; i < op.numOperands(); ++i)
    if (op.operandType(i) != op.resultType()) {
      op.fail("operand " + Twine(i) + " has another type than the result");
      return false;
    }
  return true;
}

/// Combines two operands of floats, of integers, or of truth values. An op of ConstantOp stands for none.
template <class FloatOp, class IntOp, class BoolOp> static Values binary(SourceOp &op) {
  if (!haveResultType(op))
    return {};
  Value a = op.tensor(0), b = op.tensor(1);
  if (op.isFloatResult())
    return {op.make<FloatOp>(a, b)};
  if (op.element().isInteger(32))
    return {op.make<IntOp>(a, b)};
  return {op.make<BoolOp>(a, b)};
}

static Values floatsOnly(SourceOp &op) {
  return {op.fail("is supported only of floats, or of values that do not depend on inputs")};
}

template <class Op> static Values binaryInteger(SourceOp &op) {
  if (op.isFloatResult())
    return {op.fail("is supported only of integers")};
  return haveResultType(op) ? Values{op.make<Op>(op.tensor(0), op.tensor(1))} : Values{};
}

template <class Op> static Values unary(SourceOp &op) {
  if (!op.isFloatResult())
    return floatsOnly(op);
  return haveResultType(op) ? Values{op.make<Op>(op.tensor(0))} : Values{};
}

/// Rounding has no gradient.
template <class Op> static Values rounding(SourceOp &op) {
  Values results = unary<Op>(op);
  return results.empty() || !results.front() ? results : Values{op.make<tg::StopGradientOp>(results.front())};
}

static Values negate(SourceOp &op) {
  if (!haveResultType(op))
    return {};
  if (op.isFloatResult())
    return {op.neg(op.tensor(0))};
  return {op.make<arith::SubIOp>(op.zeros(op.resultType()), op.tensor(0))};
}

/// Powers by a constant that jnp does not spell as products.
static Values power(SourceOp &op) {
  if (!op.isFloatResult())
    return floatsOnly(op);
  if (!haveResultType(op))
    return {};
  std::optional<double> exponent = op.known(1) ? op.known(1)->splat() : std::nullopt;
  Value a = op.tensor(0);
  if (exponent == 2.0)
    return {op.square(a)};
  if (exponent == 0.5)
    return {op.sqrt(a)};
  if (exponent == -0.5)
    return {op.rsqrt(a)};
  return {op.pow(a, op.tensor(1))};
}

static Values square(SourceOp &op) {
  if (!op.isFloatResult())
    return floatsOnly(op);
  return haveResultType(op) ? Values{op.square(op.tensor(0))} : Values{};
}

/// 1 / (1 + exp(-x)).
static Values logistic(SourceOp &op) {
  if (!op.isFloatResult())
    return floatsOnly(op);
  if (!haveResultType(op))
    return {};
  Value a = op.tensor(0);
  return {op.div(op.constantLike(a, 1), op.add(op.exp(op.neg(a)), 1.0))};
}

/// The larger of x and -x. Patterns have math.absf inside; the translator gives others JAX's gradient.
static Values absolute(SourceOp &op) {
  if (op.isFloatResult() || !op.element().isInteger(32) || !haveResultType(op))
    return unary<math::AbsFOp>(op);
  Value a = op.tensor(0);
  return {op.make<arith::MaxSIOp>(a, op.make<arith::SubIOp>(op.zeros(op.resultType()), a))};
}

/// 1, 0 or -1, and x where it is 0 or NaN.
static Values sign(SourceOp &op) {
  if (!haveResultType(op))
    return {};
  if (op.element().isInteger(32)) {
    auto number = [&](double each) { return op.constant(op.resultType(), each); };
    return {op.make<arith::MinSIOp>(op.make<arith::MaxSIOp>(op.tensor(0), number(-1)), number(1))};
  }
  if (!op.isFloatResult())
    return floatsOnly(op);
  Value a = op.make<tg::StopGradientOp>(op.tensor(0)), zero = op.zeros(op.resultType());
  auto isBeside = [&](arith::CmpFPredicate predicate) { return op.compare(predicate, a, zero); };
  Value negative = op.select(isBeside(arith::CmpFPredicate::OLT), op.constantLike(a, -1), a);
  return {op.select(isBeside(arith::CmpFPredicate::OGT), op.constantLike(a, 1), negative)};
}

static Values isFinite(SourceOp &op) {
  if (!isa<FloatType>(op.operandType(0).getElementType()) || op.shape(0) != op.resultShape())
    return {op.fail("is supported only of floats")};
  Value a = op.tensor(0);
  return {op.compare(arith::CmpFPredicate::OLT, op.make<math::AbsFOp>(a), op.constantLike(a, HUGE_VAL))};
}

/// min(max(x, low), high); the bounds may be without dims. At a bound the gradient is 0.
static Values clamp(SourceOp &op) {
  if (op.operandType(1) != op.resultType())
    return {op.fail("the operand has another type than the result")};
  Value bounds[2];
  for (unsigned i : {0, 2}) {
    if (op.operandType(i).getElementType() != op.element() || (!op.shape(i).empty() && op.shape(i) != op.resultShape()))
      return {op.fail("a bound has another type than the operand")};
    bounds[i / 2] = op.expand(op.tensor(i), op.resultShape(), tg::dimRange(0, op.shape(i).size()));
  }
  if (op.isFloatResult()) {
    Value x = op.tensor(1), isBelow = op.compare(arith::CmpFPredicate::OLE, x, bounds[0]);
    Value above = op.select(isBelow, bounds[0], x);
    return {op.select(op.compare(arith::CmpFPredicate::OGE, above, bounds[1]), bounds[1], above)};
  }
  return {op.make<arith::MinSIOp>(op.make<arith::MaxSIOp>(op.tensor(1), bounds[0]), bounds[1])};
}

//===----------------------------------------------------------------------===//
// Comparisons, choices, types
//===----------------------------------------------------------------------===//

static Values compare(SourceOp &op) {
  std::optional<Order> order = orderOf(op);
  if (!order)
    return {op.fail("'" + op.word("comparison_direction") + "' is no direction")};
  if (op.operandType(0) != op.operandType(1) || op.shape(0) != op.resultShape() ||
      op.word("compare_type") == "TOTALORDER")
    return {op.fail("operands have different types, or are compared in the total order of floats")};
  Value a = op.tensor(0), b = op.tensor(1);
  if (tg::isFloat(a))
    return {op.compare(order->floats, a, b)};
  // Truth values are compared as 0 and 1.
  Type integers = op.builder.getI32Type();
  return {op.compare(order->integers, op.convert(a, integers), op.convert(b, integers))};
}

static Values select(SourceOp &op) {
  if (op.operandType(1) != op.resultType() || op.operandType(2) != op.resultType() ||
      !op.operandType(0).getElementType().isInteger(1) || (!op.shape(0).empty() && op.shape(0) != op.resultShape()))
    return {op.fail("operands have different shapes or types")};
  if (std::optional<double> condition = op.known(0) ? op.known(0)->splat() : std::nullopt)
    return {op.tensor(*condition != 0 ? 1 : 2)};
  Value condition = op.expand(op.tensor(0), op.resultShape(), tg::dimRange(0, op.shape(0).size()));
  return {op.select(condition, op.tensor(1), op.tensor(2))};
}

/// Whether the sign of an integer changes the result of a conversion.
static bool readsSign(SourceOp &op) {
  Type from = op.op->getOperand(0).getType(), to = op.op->getResult(0).getType();
  auto isWide = [](Type type) { return getElementTypeOrSelf(type).isInteger(64); };
  return (isUnsigned(from) && (op.isFloatResult() || isWide(to)) && !isWide(from)) ||
         (isUnsigned(to) && isa<FloatType>(op.operandType(0).getElementType()));
}

/// A number as a truth value is whether it differs from 0. No gradient flows through integers.
static Values convert(SourceOp &op) {
  if (op.shape(0) != op.resultShape())
    return {op.fail("operand and result have different shapes")};
  if (readsSign(op))
    return {op.fail("of unsigned integers is supported only to integers of as many bits or fewer")};
  Value a = op.tensor(0);
  if (op.isFloatResult() && !tg::isFloat(a))
    return {op.make<tg::StopGradientOp>(op.convert(a, op.element()))};
  if (!op.element().isInteger(1) || tg::typeOf(a).getElementType().isInteger(1))
    return {op.convert(a, op.element())};
  Value zero = op.zeros(tg::typeOf(a));
  return {tg::isFloat(a) ? op.compare(arith::CmpFPredicate::UNE, a, zero)
                         : op.compare(arith::CmpIPredicate::ne, a, zero)};
}

static Values logicalNot(SourceOp &op) {
  if (op.isFloatResult() || !haveResultType(op))
    return {op.fail("is supported only of integers and truth values")};
  return {op.make<arith::XOrIOp>(op.tensor(0), op.constant(op.resultType(), op.element().isInteger(1) ? 1 : -1))};
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static double minus(double x) { return -x; }
static double inverseRoot(double x) { return 1 / std::sqrt(x); }
static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
static double squareOf(double x) { return x * x; }
static double larger(double x, double y) { return std::isnan(x) || x > y ? x : y; }
static double smaller(double x, double y) { return std::isnan(x) || x < y ? x : y; }
static double powerOf(double x, double y) { return std::pow(x, y); }
static double signOf(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

static constexpr OpRow kElementwiseRows[] = {
    {"stablehlo.add", 2, "", binary<arith::AddFOp, arith::AddIOp, arith::OrIOp>, evaluateSum<1>, "arith.addf, addi", "",
     true},
    {"stablehlo.subtract", 2, "", binary<arith::SubFOp, arith::SubIOp, arith::XOrIOp>, evaluateSum<-1>,
     "arith.subf, subi", "", true},
    {"stablehlo.multiply", 2, "", binary<arith::MulFOp, arith::MulIOp, arith::AndIOp>, evaluateProduct,
     "arith.mulf, muli", "", true},
    {"stablehlo.maximum", 2, "", binary<arith::MaximumFOp, arith::MaxSIOp, arith::OrIOp>, evaluateTwo<larger>,
     "arith.maximumf, maxsi"},
    {"stablehlo.minimum", 2, "", binary<arith::MinimumFOp, arith::MinSIOp, arith::AndIOp>, evaluateTwo<smaller>,
     "arith.minimumf, minsi"},
    {"stablehlo.power", 2, "", power, evaluateTwo<powerOf, /*ofIntegers=*/false>, "products, math.sqrt, rsqrt or powf"},
    {"stablehlo.negate", 1, "", negate, evaluateOne<minus>, "arith.negf, subi"},
    {"stablehlo.abs", 1, "", absolute, evaluateOne<std::fabs>, "arith.select, maxsi"},
    {"stablehlo.sign", 1, "", sign, evaluateOne<signOf>, "arith.select, maxsi, minsi"},
    {"stablehlo.exponential", 1, "", unary<math::ExpOp>, evaluateOne<std::exp>, "math.exp", kResultAccuracy},
    {"stablehlo.exponential_minus_one", 1, "", unary<math::ExpM1Op>, evaluateOne<std::expm1>, "math.expm1",
     kResultAccuracy},
    {"stablehlo.log", 1, "", unary<math::LogOp>, evaluateOne<std::log>, "math.log", kResultAccuracy},
    {"stablehlo.log_plus_one", 1, "", unary<math::Log1pOp>, evaluateOne<std::log1p>, "math.log1p", kResultAccuracy},
    {"stablehlo.sqrt", 1, "", unary<math::SqrtOp>, evaluateOne<std::sqrt>, "math.sqrt", kResultAccuracy},
    {"stablehlo.rsqrt", 1, "", unary<math::RsqrtOp>, evaluateOne<inverseRoot>, "math.rsqrt", kResultAccuracy},
    {"stablehlo.tanh", 1, "", unary<math::TanhOp>, evaluateOne<std::tanh>, "math.tanh", kResultAccuracy},
    {"stablehlo.logistic", 1, "", logistic, evaluateOne<sigmoid>, "1 / (1 + exp(-x))", kResultAccuracy},
    {"stablehlo.sine", 1, "", unary<math::SinOp>, evaluateOne<std::sin>, "math.sin", kResultAccuracy},
    {"stablehlo.cosine", 1, "", unary<math::CosOp>, evaluateOne<std::cos>, "math.cos", kResultAccuracy},
    {"stablehlo.floor", 1, "", rounding<math::FloorOp>, evaluateOne<std::floor>, "math.floor"},
    {"stablehlo.ceil", 1, "", rounding<math::CeilOp>, evaluateOne<std::ceil>, "math.ceil"},
    {"stablehlo.is_finite", 1, "", isFinite, nullptr, "a comparison of math.absf"},
    {"stablehlo.clamp", 3, "", clamp, nullptr, "arith.select, maxsi, minsi"},
    {"stablehlo.compare", 2, "comparison_direction:E compare_type:E?", compare, evaluateCompare, "arith.cmpf, cmpi"},
    {"stablehlo.select", 3, "", select, evaluateSelect, "arith.select", "", true},
    {"stablehlo.convert", 1, "", convert, evaluateConvert, "tg.convert", "", true},
    {"stablehlo.and", 2, "", binaryInteger<arith::AndIOp>, evaluateAnd, "arith.andi", "", true},
    {"stablehlo.or", 2, "", binaryInteger<arith::OrIOp>, evaluateOr, "arith.ori", "", true},
    {"stablehlo.xor", 2, "", binaryInteger<arith::XOrIOp>, nullptr, "arith.xori", "", true},
    {"stablehlo.not", 1, "", logicalNot, evaluateNot, "arith.xori", "", true},
    {"chlo.erf", 1, "", unary<math::ErfOp>, evaluateOne<std::erf>, "math.erf", kResultAccuracy},
    {"chlo.square", 1, "", square, evaluateOne<squareOf>, "arith.mulf"},
};

ArrayRef<OpRow> braid::stablehlo::elementwiseRows() { return kElementwiseRows; }
