//===- Recognize.cpp - composites that a framework spelled out ------------===//

#include "lib/Import/Recognize.h"
#include "lib/Import/Match.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// RMS norm
//===----------------------------------------------------------------------===//

/// Returns x and eps if a value is 1 / sqrt(mean(x^2) + eps) of each row.
static std::pair<Value, double> inverseRms(Value value) {
  auto broadcast = value.getDefiningOp<tg::BroadcastOp>();
  auto root = broadcast ? broadcast.getInput().getDefiningOp<math::RsqrtOp>() : nullptr;
  std::pair<Value, double> found;
  if (!root)
    return found;
  match::either<arith::AddFOp>(root.getOperand(), [&](Value mean, Value epsilon) {
    std::optional<double> number = match::decimal(epsilon);
    auto reshape = mean.getDefiningOp<tg::ReshapeOp>();
    auto reduce = reshape ? reshape.getInput().getDefiningOp<tg::ReduceOp>() : nullptr;
    if (!number || !reduce || reduce.getKind() != tg::ReduceKind::Mean)
      return false;
    auto square = reduce.getInput().getDefiningOp<arith::MulFOp>();
    int64_t last = tg::typeOf(reduce.getInput()).getRank() - 1;
    if (!square || square.getLhs() != square.getRhs() || reduce.getDims() != ArrayRef(last) ||
        tg::typeOf(mean).getRank() != last + 1 ||
        tg::typeOf(mean).getShape().drop_back() != tg::typeOf(square).getShape().drop_back())
      return false;
    found = {square.getLhs(), *number};
    return true;
  });
  return found;
}

/// Returns the scale of each lane, of `size` lanes, before it was repeated; null if it is not the same for all rows.
static Value laneScale(Value value, int64_t size) {
  Value source = match::beforeBroadcast(value);
  RankedTensorType type = tg::typeOf(source);
  if (type.getRank() != 1 || type.getDimSize(0) != size || value == source)
    return {};
  auto broadcast = value.getDefiningOp<tg::BroadcastOp>();
  return broadcast && !broadcast.getDims().empty() && broadcast.getDims().back() == tg::typeOf(value).getRank() - 1
             ? source
             : Value();
}

/// (x / rms(x)) * w, and times 1 + w.
Value patterns::rmsNorm(Operation *op) {
  Value result;
  if (!isa<arith::MulFOp>(op))
    return result;
  match::either<arith::MulFOp>(op->getResult(0), [&](Value scale, Value scaled) {
    Value weight = laneScale(scale, tg::typeOf(scale).getShape().empty() ? 0 : tg::typeOf(scale).getShape().back());
    if (!weight)
      return false;
    return match::either<arith::MulFOp>(scaled, [&](Value x, Value inverse) {
      auto [source, epsilon] = inverseRms(inverse);
      if (source != x)
        return false;
      Value bare = match::withConstant<arith::AddFOp>(weight, 1);
      OpBuilder builder(op);
      result = tg::TensorBuilder(builder, op->getLoc())
                   .make<tg::RmsNormOp>(x, bare ? bare : weight, APFloat(epsilon), APFloat(bare ? 1.0 : 0.0));
      return true;
    });
  });
  return result;
}

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

/// Returns x and the formula if a value is 1 + tanh(...) or 1 + erf(...).
static std::pair<Value, tg::GeluKind> onePlusGate(Value value) {
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
// All of them
//===----------------------------------------------------------------------===//

Recognized braid::recognize(func::FuncOp function, const KnownValues &known) {
  Recognized counts;
  RopeTables tables;
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  auto replace = [&](StringRef name, Operation *op, Value value) {
    if (!value)
      return false;
    op->getResult(0).replaceAllUsesWith(value);
    ++counts[name];
    return true;
  };
  for (Operation *op : ops)
    replace("RMS norm", op, patterns::rmsNorm(op)) || replace("GELU", op, patterns::gelu(op)) ||
        replace("rotary embedding", op, patterns::rope(op, known, tables)) ||
        replace("rotary embedding of a part", op, patterns::partialRope(op)) ||
        replace("attention by matmuls", op, patterns::attention(op, known));
  return counts;
}
