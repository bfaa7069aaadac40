//===- RecognizeAttention.cpp - attention by matrix products --------------===//
//
// softmax(scale q kᵀ, capped and masked) v, with batch and heads in front. Masks are known tensors: added as 0 and a
// large negative number, or chosen by a select.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Masks.h"
#include "lib/Import/Match.h"
#include "lib/Import/Recognize.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

/// Scores below this count as -inf.
static constexpr double kMasked = -1e9;

namespace {
/// The parts of softmax(scores), from the outside in.
struct Scores {
  Value query, key;
  double scale = 1, softcap = 0;
  MaybeKnown allowed;
};
} // namespace

static bool isMatmul(tg::ContractOp op) {
  tg::ContractionAttr einsum = op.getContraction();
  return einsum.getBatch().size() == 2 && einsum.getM().size() == 1 && einsum.getN().size() == 1 &&
         einsum.getK().size() == 1 && tg::typeOf(op.getLhs()).getRank() == 4;
}

/// Returns the known tensor behind broadcasts and reshapes that repeat it.
static const Known *knownBehind(Value value, const KnownValues &known) {
  while (true) {
    if (auto found = known.find(value); found != known.end())
      return &found->second;
    Operation *op = value.getDefiningOp();
    if (!isa_and_present<tg::BroadcastOp, tg::ReshapeOp>(op))
      return nullptr;
    value = op->getOperand(0);
  }
}

/// Returns where a select takes the score, if its other side is masked; `open` is the value for a score that counts.
static MaybeKnown allowedBy(arith::SelectOp select, bool &isFirst, const KnownValues &known) {
  const Known *condition = knownBehind(select.getCondition(), known);
  std::optional<double> first = match::splat(select.getTrueValue()), second = match::splat(select.getFalseValue());
  isFirst = second && *second <= kMasked;
  if (!condition || (!isFirst && !(first && *first <= kMasked)))
    return std::nullopt;
  return isFirst ? MaybeKnown(*condition) : known::logicalNot(*condition);
}

/// Returns where an added tensor is 0, if it is masked elsewhere.
static MaybeKnown allowedWhereZero(Value added, const KnownValues &known) {
  auto select = match::beforeBroadcast(added).getDefiningOp<arith::SelectOp>();
  bool isFirst = false;
  MaybeKnown allowed = select ? allowedBy(select, isFirst, known) : std::nullopt;
  std::optional<double> open =
      allowed ? match::splat(isFirst ? select.getTrueValue() : select.getFalseValue()) : std::nullopt;
  return open == 0.0 ? allowed : std::nullopt;
}

/// Peels the mask off, if there is one.
static Value peelMask(Value scores, Scores &parts, const KnownValues &known) {
  Value inner = scores;
  match::either<arith::AddFOp>(scores, [&](Value rest, Value added) {
    parts.allowed = allowedWhereZero(added, known);
    inner = parts.allowed ? rest : scores;
    return parts.allowed.has_value();
  });
  if (auto select = scores.getDefiningOp<arith::SelectOp>()) {
    bool isFirst = false;
    parts.allowed = allowedBy(select, isFirst, known);
    if (parts.allowed)
      inner = isFirst ? select.getTrueValue() : select.getFalseValue();
  }
  return inner;
}

/// Peels a factor off: the value times or over a constant.
static Value peelFactor(Value value, double &factor) {
  if (auto quotient = value.getDefiningOp<arith::DivFOp>())
    if (std::optional<double> divisor = match::decimal(quotient.getRhs()); divisor && *divisor != 0) {
      factor /= *divisor;
      return quotient.getLhs();
    }
  Value inner;
  match::either<arith::MulFOp>(value, [&](Value rest, Value number) {
    std::optional<double> found = match::decimal(number);
    if (!found)
      return false;
    factor *= *found;
    inner = rest;
    return true;
  });
  return inner;
}

/// Reads cap tanh(x / cap) and factors, down to the product of queries and keys.
static bool readScores(Value value, Scores &parts) {
  while (true) {
    if (auto product = value.getDefiningOp<tg::ContractOp>()) {
      // q kᵀ: the keys' last two dims have been exchanged.
      auto transpose = product.getRhs().getDefiningOp<tg::TransposeOp>();
      tg::ContractionAttr einsum = product.getContraction();
      bool isTransposed = einsum.getRhs().back() == einsum.getN()[0];
      if (!isMatmul(product) || !isTransposed || !transpose ||
          transpose.getPermutation() != ArrayRef<int64_t>({0, 1, 3, 2}))
        return false;
      parts.query = product.getLhs();
      parts.key = transpose.getInput();
      return true;
    }
    double factor = 1;
    Value inner = peelFactor(value, factor);
    if (!inner)
      return false;
    if (auto tanh = inner.getDefiningOp<math::TanhOp>()) {
      double inverse = 1;
      Value capped = peelFactor(tanh.getOperand(), inverse);
      if (!capped || parts.softcap || parts.scale != 1 || std::abs(inverse * factor - 1) > 1e-6 || factor <= 0)
        return false;
      parts.softcap = factor;
      value = capped;
      continue;
    }
    parts.scale *= factor;
    value = inner;
  }
}

Value patterns::attention(Operation *op, const KnownValues &known) {
  auto product = dyn_cast<tg::ContractOp>(op);
  auto softmax = product && isMatmul(product) ? product.getLhs().getDefiningOp<tg::SoftmaxOp>() : nullptr;
  if (!softmax || product.getContraction().getRhs().back() != product.getContraction().getN()[0])
    return {};
  Scores parts;
  if (!readScores(peelMask(softmax.getInput(), parts, known), parts))
    return {};
  MLIRContext *context = op->getContext();
  tg::MaskAttr mask = parts.allowed ? recognizeMask(*parts.allowed, context) : tg::MaskAttr::get(context);
  if (!mask)
    return {};
  OpBuilder builder(op);
  tg::TensorBuilder b(builder, op->getLoc());
  Value key = match::beforeRepeat(parts.key), value = match::beforeRepeat(product.getRhs());
  if (tg::typeOf(key).getShape() != tg::typeOf(value).getShape())
    return {};
  auto sequenceFirst = [&](Value a) { return b.transpose(a, {0, 2, 1, 3}); };
  FloatAttr softcap = parts.softcap ? builder.getF64FloatAttr(parts.softcap) : FloatAttr();
  Value result = b.make<tg::AttentionOp>(sequenceFirst(parts.query), sequenceFirst(key), sequenceFirst(value), Value(),
                                         Value(), Value(), builder.getF64FloatAttr(parts.scale), mask, softcap);
  return sequenceFirst(result);
}
