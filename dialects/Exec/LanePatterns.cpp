//===- LanePatterns.cpp - sums over lanes that need no loop of their own --===//

#include "dialects/Exec/LanePatterns.h"
#include "dialects/Exec/KernelBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;
using linalg::GenericOp;

//===----------------------------------------------------------------------===//
// Values across generics
//===----------------------------------------------------------------------===//

/// Returns the operand whose elements a block argument holds; null for other values.
static OpOperand *operandOf(Scalar scalar) {
  auto argument = dyn_cast<BlockArgument>(scalar.value);
  bool isElement = argument && argument.getOwner() == scalar.generic.getBody();
  return isElement ? &scalar.generic->getOpOperand(argument.getArgNumber()) : nullptr;
}

Scalar exec::follow(Scalar scalar) {
  while (OpOperand *operand = operandOf(scalar)) {
    auto producer = operand->get().getDefiningOp<GenericOp>();
    if (!producer || producer.getNumParallelLoops() != producer.getNumLoops())
      break;
    scalar = {producer.getBody()->getTerminator()->getOperand(0), producer};
  }
  return scalar;
}

/// Returns the op that computes a value, followed through generics; null if that is no `Op`.
template <typename Op> static Op definition(Scalar &scalar) {
  scalar = follow(scalar);
  return scalar.value.getDefiningOp<Op>();
}

/// Returns whether two values are the same function of the same operands.
static bool isSame(Scalar a, Scalar b) {
  a = follow(a), b = follow(b);
  OpOperand *left = operandOf(a), *right = operandOf(b);
  if (left && right)
    return left->get() == right->get() && operandDims(a.generic, *left) == operandDims(b.generic, *right);
  Operation *one = a.value.getDefiningOp(), *other = b.value.getDefiningOp();
  if (!one || !other || one->getName() != other->getName() || one->getNumRegions() || !isPure(one))
    return false;
  if (auto index = dyn_cast<linalg::IndexOp>(one))
    return dimsOf(a.generic)[index.getDim()] == dimsOf(b.generic)[cast<linalg::IndexOp>(other).getDim()];
  if (one->getAttrDictionary() != other->getAttrDictionary() || one->getResultTypes() != other->getResultTypes())
    return false;
  return llvm::all_of(llvm::zip_equal(one->getOperands(), other->getOperands()), [&](auto pair) {
    return isSame({std::get<0>(pair), a.generic}, {std::get<1>(pair), b.generic});
  });
}

static bool dependsOnLane(Scalar scalar, int64_t lanes) {
  scalar = follow(scalar);
  if (OpOperand *operand = operandOf(scalar))
    return llvm::is_contained(operandDims(scalar.generic, *operand), lanes);
  Operation *op = scalar.value.getDefiningOp();
  if (auto index = dyn_cast_or_null<linalg::IndexOp>(op))
    return dimsOf(scalar.generic)[index.getDim()] == lanes;
  return !op || !isPure(op) ||
         llvm::any_of(op->getOperands(), [&](Value value) { return dependsOnLane({value, scalar.generic}, lanes); });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

template <typename Combiner> static Combiner combinerOf(GenericOp reduction) {
  return reduction.getBody()->getTerminator()->getOperand(0).getDefiningOp<Combiner>();
}

Value exec::contributionOf(GenericOp reduction) {
  Operation *combiner = reduction.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2)
    return nullptr;
  Value old = reduction.getBody()->getArguments().back();
  return combiner->getOperand(combiner->getOperand(0) == old ? 1 : 0);
}

/// Returns the summand of a sum over lanes in f32; no value for another generic.
static Scalar summandOf(GenericOp sum, int64_t lanes) {
  bool isSum = kindOf(sum, lanes) == GenericKind::LaneReduction && combinerOf<arith::AddFOp>(sum) &&
               combinerOf<arith::AddFOp>(sum).getType().isF32();
  return {isSum ? contributionOf(sum) : Value(), sum};
}

std::optional<ExponentialSum> exec::findExponentialSum(GenericOp sum, int64_t lanes) {
  Scalar term = summandOf(sum, lanes);
  auto exp = term.value ? definition<math::ExpOp>(term) : math::ExpOp();
  if (!exp)
    return std::nullopt;
  Scalar exponent{exp.getOperand(), term.generic};
  auto difference = definition<arith::SubFOp>(exponent);
  if (!difference)
    return std::nullopt;
  Scalar x{difference.getLhs(), exponent.generic}, m = follow({difference.getRhs(), exponent.generic});
  OpOperand *operand = operandOf(m);
  auto maximum = operand ? operand->get().getDefiningOp<GenericOp>() : GenericOp();
  if (!maximum || kindOf(maximum, lanes) != GenericKind::LaneReduction || !combinerOf<arith::MaximumFOp>(maximum) ||
      !isSame({contributionOf(maximum), maximum}, x))
    return std::nullopt;
  return ExponentialSum{maximum, term.generic};
}

/// Returns whether a value is the lane index.
static bool isLaneIndex(Scalar scalar, int64_t lanes) {
  auto cast = definition<arith::IndexCastOp>(scalar);
  Scalar source{cast ? cast.getIn() : scalar.value, scalar.generic};
  auto index = definition<linalg::IndexOp>(source);
  return index && dimsOf(source.generic)[index.getDim()] == lanes;
}

std::optional<PickedLane> exec::findPickedLane(GenericOp sum, int64_t lanes) {
  Scalar term = summandOf(sum, lanes);
  auto select = term.value ? definition<arith::SelectOp>(term) : arith::SelectOp();
  if (!select)
    return std::nullopt;
  Scalar zero{select.getFalseValue(), term.generic}, condition{select.getCondition(), term.generic};
  auto constant = definition<arith::ConstantOp>(zero);
  auto compare = definition<arith::CmpIOp>(condition);
  auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  if (!number || !number.getValue().isZero() || !compare || compare.getPredicate() != arith::CmpIPredicate::eq)
    return std::nullopt;
  Scalar lane{compare.getLhs(), condition.generic}, index{compare.getRhs(), condition.generic};
  if (!isLaneIndex(lane, lanes))
    std::swap(lane, index);
  if (!isLaneIndex(lane, lanes) || !index.value.getType().isInteger(32) || dependsOnLane(index, lanes))
    return std::nullopt;

  Scalar picked{select.getTrueValue(), term.generic};
  if (auto widened = definition<arith::ExtFOp>(picked))
    picked = follow({widened.getIn(), picked.generic});
  OpOperand *operand = operandOf(picked);
  auto argument = operand ? dyn_cast<BlockArgument>(operand->get()) : BlockArgument();
  if (!argument)
    return std::nullopt;
  SmallVector<int64_t, 4> dims(operandDims(picked.generic, *operand));
  if (llvm::count(dims, lanes) != 1)
    return std::nullopt;
  return PickedLane{argument, dims, index};
}
