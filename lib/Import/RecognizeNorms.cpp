//===- RecognizeNorms.cpp - means, RMS norm, layer norm -------------------===//
//
// A norm is first recognized without scale and bias. A product with a scale of each lane, and a sum with a bias, then
// become a part of it.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/MatchRows.h"
#include "lib/Import/Recognize.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

/// A sum over n elements, divided by n.
Value patterns::mean(Operation *op) {
  auto divide = dyn_cast<arith::DivFOp>(op);
  std::optional<double> count = divide ? match::splat(divide.getRhs()) : std::nullopt;
  auto sum = count ? match::beforeOnes(divide.getLhs()).getDefiningOp<tg::ReduceOp>() : nullptr;
  if (!sum || sum.getKind() != tg::ReduceKind::Sum || tg::typeOf(sum).getNumElements() == 0)
    return {};
  double elements = tg::typeOf(sum.getInput()).getNumElements() / tg::typeOf(sum).getNumElements();
  if (*count != elements)
    return {};
  OpBuilder builder(op);
  tg::TensorBuilder b(builder, op->getLoc());
  return b.reshape(b.reduce(tg::ReduceKind::Mean, sum.getInput(), sum.getDims()), tg::typeOf(divide).getShape());
}

/// Returns the scale of each lane before it was repeated; null if it is not the same for all rows.
static Value laneScale(Value value) {
  Value source = match::beforeBroadcast(value);
  RankedTensorType type = tg::typeOf(source), wide = tg::typeOf(value);
  if (type.getRank() != 1 || wide.getRank() == 0 || type.getDimSize(0) != wide.getShape().back() || value == source)
    return {};
  auto broadcast = value.getDefiningOp<tg::BroadcastOp>();
  return broadcast && !broadcast.getDims().empty() && broadcast.getDims().back() == wide.getRank() - 1 ? source
                                                                                                       : Value();
}

namespace {
/// x / sqrt(variance + eps), times a scale of each lane if there is one.
struct Normalized {
  Value x, variance, scale;
  double epsilon = 0;
};
} // namespace

/// Reads variance + eps of each row, repeated along the row.
template <class Root> static bool readRoot(Value wide, Normalized &parts) {
  Value row = match::perRow(wide);
  auto root = row ? match::beforeOnes(row).getDefiningOp<Root>() : nullptr;
  return root && match::either<arith::AddFOp>(root.getOperand(), [&](Value variance, Value epsilon) {
           std::optional<double> number = match::decimal(epsilon);
           parts.variance = variance;
           parts.epsilon = number.value_or(0);
           return number.has_value();
         });
}

static std::optional<Normalized> normalized(Value value) {
  Normalized parts;
  if (auto quotient = value.getDefiningOp<arith::DivFOp>()) {
    parts.x = quotient.getLhs();
    return readRoot<math::SqrtOp>(quotient.getRhs(), parts) ? std::optional(parts) : std::nullopt;
  }
  bool isProduct = match::either<arith::MulFOp>(value, [&](Value x, Value factor) {
    parts.x = x;
    if (readRoot<math::RsqrtOp>(factor, parts))
      return true;
    return match::either<arith::MulFOp>(factor, [&](Value inverse, Value scale) { // x (w / rms(x))
      parts.scale = laneScale(scale);
      return parts.scale && readRoot<math::RsqrtOp>(inverse, parts);
    });
  });
  return isProduct ? std::optional(parts) : std::nullopt;
}

/// Returns x if a value is the mean of x^2 over each row.
static Value meanSquareOf(Value row) {
  Value input = match::reducedLanes(row, tg::ReduceKind::Mean);
  auto square = input ? input.getDefiningOp<arith::MulFOp>() : nullptr;
  return square && square.getLhs() == square.getRhs() ? square.getLhs() : Value();
}

/// Returns x if a value is x minus its row's mean.
static Value minusMean(Value value) {
  auto difference = value.getDefiningOp<arith::SubFOp>();
  Value row = difference ? match::perRow(difference.getRhs()) : Value();
  return row && match::reducedLanes(row, tg::ReduceKind::Mean) == difference.getLhs() ? difference.getLhs() : Value();
}

/// Whether a value of each row is mean(x^2) - mean(x)^2, perhaps at least 0, as Flax computes the variance.
static bool isFastVariance(Value row, Value x) {
  Value value = match::beforeOnes(row);
  if (match::either<arith::MaximumFOp>(
          value, [&](Value rest, Value zero) { return match::splat(zero) == 0.0 && isFastVariance(rest, x); }))
    return true;
  auto difference = value.getDefiningOp<arith::SubFOp>();
  auto square = difference ? match::beforeOnes(difference.getRhs()).getDefiningOp<arith::MulFOp>() : nullptr;
  return square && square.getLhs() == square.getRhs() && meanSquareOf(difference.getLhs()) == x &&
         match::reducedLanes(square.getLhs(), tg::ReduceKind::Mean) == x;
}

/// Returns `scale`, or ones for each lane of x.
static Value scaleOrOnes(tg::TensorBuilder &b, Value scale, Value x) {
  return scale ? scale : b.constant(tg::withShape(tg::typeOf(x), tg::typeOf(x).getShape().take_back()), 1);
}

/// Whether a scale is the ones of a norm without a scale.
static bool areOnes(Value scale) { return match::isSplat(scale, 1) && scale.getDefiningOp<arith::ConstantOp>(); }

Value patterns::rmsNorm(Operation *op) {
  std::optional<Normalized> parts;
  if (isa<arith::MulFOp, arith::DivFOp>(op))
    parts = normalized(op->getResult(0));
  if (!parts || meanSquareOf(parts->variance) != parts->x)
    return {};
  OpBuilder builder(op);
  tg::TensorBuilder b(builder, op->getLoc());
  return b.make<tg::RmsNormOp>(parts->x, scaleOrOnes(b, parts->scale, parts->x), APFloat(parts->epsilon), APFloat(0.0));
}

Value patterns::layerNorm(Operation *op) {
  std::optional<Normalized> parts;
  if (isa<arith::MulFOp, arith::DivFOp>(op))
    parts = normalized(op->getResult(0));
  Value x = parts ? minusMean(parts->x) : Value();
  if (!x || (meanSquareOf(parts->variance) != parts->x && !isFastVariance(parts->variance, x)))
    return {};
  OpBuilder builder(op);
  tg::TensorBuilder b(builder, op->getLoc());
  return b.make<tg::LayerNormOp>(x, scaleOrOnes(b, parts->scale, x), Value(), builder.getF64FloatAttr(parts->epsilon));
}

/// The scale of an RMS norm, which may be 1 + w, or of a layer norm.
Value patterns::normScale(Operation *op) {
  Value result;
  if (!isa<arith::MulFOp>(op))
    return result;
  OpBuilder builder(op);
  tg::TensorBuilder b(builder, op->getLoc());
  match::either<arith::MulFOp>(op->getResult(0), [&](Value norm, Value wide) {
    auto rms = norm.getDefiningOp<tg::RmsNormOp>();
    auto layer = norm.getDefiningOp<tg::LayerNormOp>();
    Value scale = rms || layer ? laneScale(wide) : Value();
    if (!scale)
      return false;
    if (rms && norm == rms.getResult() && areOnes(rms.getWeight())) {
      Value bare = match::withConstant<arith::AddFOp>(scale, 1);
      result = b.make<tg::RmsNormOp>(rms.getInput(), bare ? bare : scale, rms.getEpsAttr().getValue(),
                                     APFloat(bare ? 1.0 : 0.0));
    } else if (layer && norm == layer.getResult() && areOnes(layer.getWeight()) && !layer.getBias()) {
      result = b.make<tg::LayerNormOp>(layer.getInput(), scale, Value(), layer.getEpsAttr());
    }
    return result != Value();
  });
  return result;
}

/// The bias of a layer norm.
Value patterns::normBias(Operation *op) {
  Value result;
  if (!isa<arith::AddFOp>(op))
    return result;
  OpBuilder builder(op);
  tg::TensorBuilder b(builder, op->getLoc());
  match::either<arith::AddFOp>(op->getResult(0), [&](Value norm, Value wide) {
    auto layer = norm.getDefiningOp<tg::LayerNormOp>();
    Value bias = layer && norm == layer.getResult() && !layer.getBias() ? laneScale(wide) : Value();
    if (!bias)
      return false;
    result = b.make<tg::LayerNormOp>(layer.getInput(), layer.getWeight(), bias, layer.getEpsAttr());
    return true;
  });
  return result;
}
