//===- Combiners.cpp - sums, products, maxima of two tensors --------------===//

#include "lib/Import/StableHLO/Combiners.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

std::optional<Combiner> braid::stablehlo::combinerOf(SourceOp &op, unsigned number) {
  if (number >= op.op->getNumRegions())
    return std::nullopt;
  Region &region = op.op->getRegion(number);
  if (!region.hasOneBlock() || region.getNumArguments() != 2 || region.front().getOperations().size() != 2)
    return std::nullopt;
  Operation &first = region.front().front(), &last = region.front().back();
  if (!equal(first.getOperands(), region.getArguments()) || first.getNumResults() != 1 ||
      !equal(last.getOperands(), first.getResults()))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<Combiner>>(first.getName().getStringRef())
      .Case("stablehlo.add", Combiner::Add)
      .Case("stablehlo.multiply", Combiner::Multiply)
      .Case("stablehlo.maximum", Combiner::Maximum)
      .Case("stablehlo.minimum", Combiner::Minimum)
      .Case("stablehlo.and", Combiner::And)
      .Case("stablehlo.or", Combiner::Or)
      .Default(std::nullopt);
}

std::optional<double> braid::stablehlo::neutralOf(Combiner kind, Type element) {
  bool isFloat = isa<FloatType>(element), isTruth = element.isInteger(1);
  switch (kind) {
  case Combiner::Add:
    return 0;
  case Combiner::Multiply:
    return 1;
  case Combiner::Maximum:
    return isFloat ? -HUGE_VAL : isTruth ? 0 : INT32_MIN;
  case Combiner::Minimum:
    return isFloat ? HUGE_VAL : isTruth ? 1 : INT32_MAX;
  case Combiner::And:
    return isTruth ? std::optional<double>(1) : std::nullopt;
  case Combiner::Or:
    return isTruth ? std::optional<double>(0) : std::nullopt;
  }
  llvm_unreachable("unknown combiner");
}

std::optional<Combiner> braid::stablehlo::reducerOf(SourceOp &op) {
  std::optional<Combiner> kind = op.op->getNumRegions() == 1 ? combinerOf(op) : std::nullopt;
  if (!kind)
    return std::nullopt;
  std::optional<double> neutral = neutralOf(*kind, op.element()),
                        first = op.known(1) ? op.known(1)->splat() : std::nullopt;
  bool isCounted = op.element().isInteger(1) && (*kind == Combiner::Add || *kind == Combiner::Multiply);
  return neutral && neutral == first && !isCounted ? kind : std::nullopt;
}

/// The larger of two floats, or the smaller: the first one if they are equal, and NaN if one is NaN.
static Value chosenFloat(SourceOp &op, arith::CmpFPredicate isBetter, Value a, Value b) {
  Value isNaN = op.compare(arith::CmpFPredicate::UNO, a, a);
  return op.select(op.make<arith::OrIOp>(op.compare(isBetter, a, b), isNaN), a, b);
}

Value braid::stablehlo::combined(SourceOp &op, Combiner kind, Value a, Value b) {
  Type element = tg::typeOf(a).getElementType();
  bool isFloat = isa<FloatType>(element), isTruth = element.isInteger(1);
  switch (kind) {
  case Combiner::Add:
    return isFloat ? op.add(a, b) : op.make<arith::AddIOp>(a, b);
  case Combiner::Multiply:
    return isFloat ? op.mul(a, b) : op.make<arith::MulIOp>(a, b);
  case Combiner::Maximum:
    if (isFloat)
      return chosenFloat(op, arith::CmpFPredicate::OGE, a, b);
    return isTruth ? op.make<arith::OrIOp>(a, b) : op.make<arith::MaxSIOp>(a, b);
  case Combiner::Minimum:
    if (isFloat)
      return chosenFloat(op, arith::CmpFPredicate::OLE, a, b);
    return isTruth ? op.make<arith::AndIOp>(a, b) : op.make<arith::MinSIOp>(a, b);
  case Combiner::And:
    return op.make<arith::AndIOp>(a, b);
  case Combiner::Or:
    return op.make<arith::OrIOp>(a, b);
  }
  llvm_unreachable("unknown combiner");
}
