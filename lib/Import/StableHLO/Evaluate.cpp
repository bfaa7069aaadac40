//===- Evaluate.cpp - arithmetic on known operands ------------------------===//

#include "lib/Import/StableHLO/Evaluate.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

/// Integers up to this one are exact in a float of 32 bits.
static constexpr int64_t kExact = int64_t(1) << 24;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Rounds a number to the type of the result.
static double rounded(Type type, double number) {
  auto element = dyn_cast<FloatType>(type);
  if (!element)
    return std::trunc(number);
  APFloat value(number);
  bool losesInfo;
  value.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

/// Returns nothing if the numbers are integers that leave 32 bits.
static MaybeKnown inRange(SourceOp &op, MaybeKnown result) {
  if (!result || op.isFloatResult() || !std::holds_alternative<Dense>(result->value))
    return result;
  for (double number : *std::get<Dense>(result->value).numbers)
    if (!(number >= INT32_MIN && number <= INT32_MAX))
      return std::nullopt;
  return result;
}

MaybeKnown braid::stablehlo::evaluateNumbers(SourceOp &op, llvm::function_ref<double(double)> function) {
  const MaybeKnown &a = op.known(0);
  Type type = op.element();
  if (!a || type.isInteger(1))
    return std::nullopt;
  return inRange(op, known::map(*a, [&](double x) { return rounded(type, function(x)); }));
}

MaybeKnown braid::stablehlo::evaluateNumbers(SourceOp &op, llvm::function_ref<double(double, double)> function) {
  const MaybeKnown &a = op.known(0), &b = op.known(1);
  Type type = op.element();
  if (!a || !b || type.isInteger(1) || a->shape != b->shape)
    return std::nullopt;
  return inRange(op, known::map(*a, *b, [&](double x, double y) { return rounded(type, function(x, y)); }));
}

/// Whether both operands are integers as affine functions, and of the same shape.
static bool areAffine(SourceOp &op) {
  const MaybeKnown &a = op.known(0), &b = op.known(1);
  return a && b && a->affine() && b->affine() && a->shape == b->shape;
}

MaybeKnown braid::stablehlo::evaluateSum(SourceOp &op, int factor) {
  if (areAffine(op) && !op.isFloatResult())
    return known::add(*op.known(0), *op.known(1), factor);
  return evaluateNumbers(op, [&](double x, double y) { return x + factor * y; });
}

MaybeKnown braid::stablehlo::evaluateProduct(SourceOp &op) {
  if (areAffine(op) && !op.isFloatResult()) {
    MaybeKnown product = known::multiply(*op.known(0), *op.known(1));
    std::optional<double> all = product ? product->splat() : std::nullopt;
    return all && std::abs(*all) > INT32_MAX ? std::nullopt : product;
  }
  return evaluateNumbers(op, [](double x, double y) { return x * y; });
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

std::optional<Order> braid::stablehlo::orderOf(SourceOp &op) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  return llvm::StringSwitch<std::optional<Order>>(op.word("comparison_direction"))
      .Case("EQ", Order{F::OEQ, I::eq})
      .Case("NE", Order{F::UNE, I::ne})
      .Case("LT", Order{F::OLT, I::slt})
      .Case("LE", Order{F::OLE, I::sle})
      .Case("GT", Order{F::OGT, I::sgt})
      .Case("GE", Order{F::OGE, I::sge})
      .Default(std::nullopt);
}

/// Where a mask of 0 and 1, or of truth values, equals 1 (or 0).
static MaybeKnown maskEquals(const Known &mask, double number) {
  if (number == 1)
    return mask;
  return number == 0 ? known::logicalNot(mask) : std::nullopt;
}

static MaybeKnown negated(const MaybeKnown &a) { return a ? known::logicalNot(*a) : std::nullopt; }

/// Compares whole numbers without looking at each.
static MaybeKnown compareForms(const Known &a, const Known &b, arith::CmpIPredicate order) {
  using I = arith::CmpIPredicate;
  std::optional<double> all = b.splat();
  if (a.band() && all && (order == I::eq || order == I::ne)) {
    MaybeKnown equal = maskEquals(a, *all);
    return order == I::eq ? equal : negated(equal);
  }
  if (!a.affine() || !b.affine())
    return std::nullopt;
  switch (order) {
  case I::eq:
    return known::isEqual(a, b);
  case I::ne:
    return negated(known::isEqual(a, b));
  case I::sge:
    return known::isAtLeast(a, b, 0);
  case I::sgt:
    return known::isAtLeast(a, b, 1);
  case I::sle:
    return known::isAtLeast(b, a, 0);
  default:
    return known::isAtLeast(b, a, 1);
  }
}

MaybeKnown braid::stablehlo::evaluateCompare(SourceOp &op) {
  const MaybeKnown &a = op.known(0), &b = op.known(1);
  std::optional<Order> order = orderOf(op);
  if (!a || !b || !order || a->shape != b->shape || op.word("compare_type") == "TOTALORDER")
    return std::nullopt;
  if (MaybeKnown result = compareForms(*a, *b, order->integers))
    return result;
  return known::map(*a, *b, [&](double x, double y) {
    return static_cast<double>(arith::applyCmpPredicate(order->floats, APFloat(x), APFloat(y)));
  });
}

//===----------------------------------------------------------------------===//
// Truth values, choices, types
//===----------------------------------------------------------------------===//

MaybeKnown braid::stablehlo::evaluateAnd(SourceOp &op) {
  const MaybeKnown &a = op.known(0), &b = op.known(1);
  return a && b && a->shape == b->shape && op.element().isInteger(1) ? known::logicalAnd(*a, *b) : std::nullopt;
}

/// a or b is not (not a and not b).
MaybeKnown braid::stablehlo::evaluateOr(SourceOp &op) {
  const MaybeKnown &a = op.known(0), &b = op.known(1);
  if (!a || !b || a->shape != b->shape || !op.element().isInteger(1))
    return std::nullopt;
  MaybeKnown notA = negated(a), notB = negated(b);
  return negated(notA && notB ? known::logicalAnd(*notA, *notB) : std::nullopt);
}

MaybeKnown braid::stablehlo::evaluateNot(SourceOp &op) {
  return op.element().isInteger(1) ? negated(op.known(0)) : std::nullopt;
}

/// A choice between 1 and 0, or true and false, is the condition; of other known values it is made one by one.
static MaybeKnown chosen(const Known &condition, const Known &a, const Known &b) {
  std::optional<double> first = a.splat(), second = b.splat();
  if (condition.band() && first == 1.0 && second == 0.0)
    return condition;
  if (condition.band() && first == 0.0 && second == 1.0)
    return known::logicalNot(condition);
  if (condition.band() && a.band() && second == 0.0)
    return known::logicalAnd(condition, a);
  std::optional<std::vector<double>> conditions = condition.numbers(), numbers = a.numbers(), others = b.numbers();
  if (!conditions || !numbers || !others || conditions->size() != numbers->size() || numbers->size() != others->size())
    return std::nullopt;
  for (auto [isFirst, number, other] : zip_equal(*conditions, *numbers, *others))
    number = isFirst != 0 ? number : other;
  return known::dense(a.shape, std::move(*numbers));
}

MaybeKnown braid::stablehlo::evaluateSelect(SourceOp &op) {
  const MaybeKnown &condition = op.known(0), &a = op.known(1), &b = op.known(2);
  if (std::optional<double> all = condition ? condition->splat() : std::nullopt)
    return *all != 0 ? a : b;
  return condition && a && b && condition->shape == a->shape && a->shape == b->shape ? chosen(*condition, *a, *b)
                                                                                     : std::nullopt;
}

/// Whether all numbers of an affine function are exact in any float type but bf16.
static bool isExact(const Known &a) {
  int64_t most = std::abs(a.affine()->constant);
  for (auto [factor, size] : zip_equal(a.affine()->factors, a.shape))
    most += std::abs(factor) * std::max<int64_t>(size - 1, 0);
  return most <= kExact;
}

bool braid::stablehlo::isNatural(const Known &a) {
  const Affine *positions = a.affine();
  return positions && positions->constant >= 0 && all_of(positions->factors, [](int64_t each) { return each >= 0; });
}

MaybeKnown braid::stablehlo::evaluateConvert(SourceOp &op) {
  const MaybeKnown &a = op.known(0);
  bool losesSign = isUnsigned(op.op->getOperand(0).getType()) && !isUnsigned(op.op->getResult(0).getType());
  if (losesSign && !(a && isNatural(*a)))
    return std::nullopt;
  if (!a || a->band())
    return a;
  Type type = op.element();
  if (type.isInteger(1))
    return known::map(*a, [](double x) { return static_cast<double>(x != 0); });
  if (a->affine() && !type.isBF16() && isExact(*a))
    return a;
  if (a->affine() && !isa<FloatType>(type))
    return a;
  return inRange(op, known::map(*a, [&](double x) { return rounded(type, x); }));
}
