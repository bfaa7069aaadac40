//===- RecognizeActivations.cpp - GELU, SiLU, softmax ---------------------===//

#include "lib/Import/MatchRows.h"
#include "lib/Import/Recognize.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// GELU
//===----------------------------------------------------------------------===//

/// Returns x if a value is sqrt(2/pi) (x + 0.044715 x^3).
static Value insideTanh(Value value) {
  Value sum = match::withConstant<arith::MulFOp>(value, 0.7978845608028654), found;
  if (!sum)
    return {};
  match::either<arith::AddFOp>(sum, [&](Value x, Value cube) {
    Value power = match::withConstant<arith::MulFOp>(cube, 0.044715);
    bool isCube = power && match::either<arith::MulFOp>(power, [&](Value square, Value last) {
                    auto product = square.getDefiningOp<arith::MulFOp>();
                    return last == x && product && product.getLhs() == x && product.getRhs() == x;
                  });
    found = isCube ? x : Value();
    return isCube;
  });
  return found;
}

/// Returns x if a value is x / sqrt(2).
static Value overRootTwo(Value value) {
  if (auto quotient = value.getDefiningOp<arith::DivFOp>())
    return match::isSplat(quotient.getRhs(), std::sqrt(2.0)) ? quotient.getLhs() : Value();
  return match::withConstant<arith::MulFOp>(value, std::sqrt(0.5));
}

/// Returns x and the formula if a value is 1 + tanh(...), 1 + erf(...), or 1 - erf(-...).
static std::pair<Value, tg::GeluKind> onePlusGate(Value value) {
  if (auto difference = value.getDefiningOp<arith::SubFOp>()) {
    auto erf = difference.getRhs().getDefiningOp<math::ErfOp>();
    Value scaled = erf && match::isSplat(difference.getLhs(), 1) ? overRootTwo(erf.getOperand()) : Value();
    auto negated = scaled ? scaled.getDefiningOp<arith::NegFOp>() : nullptr;
    return {negated ? negated.getOperand() : Value(), tg::GeluKind::Erf};
  }
  Value gate = match::withConstant<arith::AddFOp>(value, 1);
  if (auto tanh = gate ? gate.getDefiningOp<math::TanhOp>() : nullptr)
    return {insideTanh(tanh.getOperand()), tg::GeluKind::Tanh};
  if (auto erf = gate ? gate.getDefiningOp<math::ErfOp>() : nullptr)
    return {overRootTwo(erf.getOperand()), tg::GeluKind::Erf};
  return {};
}

/// x / 2 (1 + gate), with the factors in any order.
Value patterns::gelu(Operation *op) {
  Value result;
  if (!isa<arith::MulFOp>(op))
    return result;
  auto build = [&](Value x, tg::GeluKind kind) {
    OpBuilder builder(op);
    result = tg::TensorBuilder(builder, op->getLoc()).make<tg::GeluOp>(kind, x);
    return true;
  };
  match::either<arith::MulFOp>(op->getResult(0), [&](Value a, Value b) {
    auto [x, kind] = onePlusGate(b);
    if (x && match::withConstant<arith::MulFOp>(a, 0.5) == x)
      return build(x, kind);
    if (match::isSplat(b, 0.5)) // 0.5 (x (1 + gate))
      return match::either<arith::MulFOp>(a, [&, kind = kind](Value factor, Value rest) {
        auto [inner, formula] = onePlusGate(rest);
        return inner && inner == factor && build(inner, formula);
      });
    // x (0.5 (1 + gate))
    Value half = match::withConstant<arith::MulFOp>(b, 0.5);
    auto [inner, formula] = half ? onePlusGate(half) : std::pair<Value, tg::GeluKind>();
    return inner && inner == a && build(inner, formula);
  });
  return result;
}

//===----------------------------------------------------------------------===//
// SiLU and softmax
//===----------------------------------------------------------------------===//

/// Whether a value is 1 + exp(-x).
static bool isOnePlusExp(Value value, Value x) {
  Value power = match::withConstant<arith::AddFOp>(value, 1);
  auto exp = power ? power.getDefiningOp<math::ExpOp>() : nullptr;
  auto negated = exp ? exp.getOperand().getDefiningOp<arith::NegFOp>() : nullptr;
  return negated && negated.getOperand() == x;
}

/// x (1 / (1 + exp(-x))), or x / (1 + exp(-x)).
Value patterns::silu(Operation *op) {
  Value input;
  if (auto quotient = dyn_cast<arith::DivFOp>(op); quotient && isOnePlusExp(quotient.getRhs(), quotient.getLhs()))
    input = quotient.getLhs();
  if (isa<arith::MulFOp>(op))
    match::either<arith::MulFOp>(op->getResult(0), [&](Value x, Value gate) {
      auto quotient = gate.getDefiningOp<arith::DivFOp>();
      if (!quotient || !match::isSplat(quotient.getLhs(), 1) || !isOnePlusExp(quotient.getRhs(), x))
        return false;
      input = x;
      return true;
    });
  if (!input)
    return {};
  OpBuilder builder(op);
  return tg::TensorBuilder(builder, op->getLoc()).make<tg::SiluOp>(input);
}

/// 1 / (1 + exp(-x)), whose gradient would be infinity over infinity far below 0. Here no exponential is above 1.
Value patterns::sigmoid(Operation *op) {
  auto quotient = dyn_cast<arith::DivFOp>(op);
  Value power = quotient && match::isSplat(quotient.getLhs(), 1)
                    ? match::withConstant<arith::AddFOp>(quotient.getRhs(), 1)
                    : Value();
  auto exp = power ? power.getDefiningOp<math::ExpOp>() : nullptr;
  auto negated = exp ? exp.getOperand().getDefiningOp<arith::NegFOp>() : nullptr;
  if (!negated)
    return {};
  OpBuilder builder(op);
  tg::TensorBuilder b(builder, op->getLoc());
  Value x = negated.getOperand(), isBelow = b.compare(arith::CmpFPredicate::OLT, x, b.constantLike(x, 0));
  Value small = b.exp(b.select(isBelow, x, negated)), one = b.constantLike(x, 1);
  Value share = b.select(isBelow, small, one);
  return b.div(share, b.add(small, 1.0));
}

/// e / sum(e) of each row, with e = exp(x - max(x)).
Value patterns::softmax(Operation *op) {
  auto quotient = dyn_cast<arith::DivFOp>(op);
  Value row = quotient ? match::perRow(quotient.getRhs()) : Value();
  auto exp = row ? quotient.getLhs().getDefiningOp<math::ExpOp>() : nullptr;
  if (!exp || match::reducedLanes(row, tg::ReduceKind::Sum) != exp.getResult())
    return {};
  Value input = match::minusRowMaximum(exp.getOperand());
  OpBuilder builder(op);
  return input ? tg::TensorBuilder(builder, op->getLoc()).make<tg::SoftmaxOp>(input) : Value();
}
