//===- TGDecomposeTraining.cpp - definitions of losses and of marker ops --===//

#include "dialects/TG/TGBuilder.h"
#include "dialects/TG/ValueNames.h"

using namespace mlir;
using namespace braid::tg;

//===----------------------------------------------------------------------===//
// Cross entropy
//===----------------------------------------------------------------------===//

/// Returns which targets are not ignored.
static Value validTargets(TensorBuilder &t, Value targets, int64_t ignoreIndex) {
  Value ignored = t.constant(typeOf(targets), ignoreIndex);
  return t.compare(arith::CmpIPredicate::ne, targets, ignored);
}

/// Returns where a lane of `logits` is its row's target. A comparison instead of a
/// gather, so that it fuses with the other row work.
static Value isTarget(TensorBuilder &t, Value logits, Value targets) {
  Value lane = t.iota(logits, typeOf(logits).getRank() - 1, typeOf(targets).getElementType());
  return t.compare(arith::CmpIPredicate::eq, lane, t.broadcastRows(targets, logits));
}

SmallVector<Value> CountOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Type element = getType().getElementType();
  // The sum is in f32, because bf16 cannot count past 256.
  RankedTensorType exact = withElement(getTargets().getType(), element.isBF16() ? builder.getF32Type() : element);
  Value valid = validTargets(t, getTargets(), getIgnoreIndex());
  Value weights = t.select(valid, t.constant(exact, 1.0), t.constant(exact, getIgnoredWeight().convertToDouble()));
  return {t.convert(t.sumAll(weights), element)};
}

/// Returns the divisor of a mean loss: the number of targets, at least 1.
static Value divisorOfMean(TensorBuilder &t, Value targets, int64_t ignoreIndex, Type element) {
  auto type = RankedTensorType::get({}, element);
  return t.max(t.make<CountOp>(type, targets, ignoreIndex, /*ignored_weight=*/APFloat(0.0)), 1.0);
}

/// A mean is a sum divided by a count, so that some of the rows can be summed separately.
SmallVector<Value> CrossEntropyOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Type element = getLogits().getType().getElementType();
  Value logits = t.widen(getLogits());
  if (getReduction() == LossReduction::Mean) {
    auto sum = builder.create<CrossEntropyOp>(t.loc, LossReduction::Sum, logits, getTargets(), getIgnoreIndex());
    Value divisor = divisorOfMean(t, getTargets(), getIgnoreIndex(), typeOf(logits).getElementType());
    return {t.convert(t.div(sum.getLoss(), divisor), element), t.convert(sum.getLse(), element)};
  }
  Value max = named("largest", t.reduceLanes(ReduceKind::Max, logits));
  Value e = named("power", t.exp(t.sub(logits, t.broadcastRows(max, logits))));
  Value lse = named("lse", t.add(max, t.log(named("divisor", t.reduceLanes(ReduceKind::Sum, e)))));
  Value chosen = t.select(isTarget(t, logits, getTargets()), logits, t.constantLike(logits, 0.0));
  Value picked = named("target_logit", t.reduceLanes(ReduceKind::Sum, chosen));
  Value valid = named("counts", validTargets(t, getTargets(), getIgnoreIndex()));
  Value loss = t.sumAll(named("row_loss", t.select(valid, t.sub(lse, picked), t.constantLike(lse, 0.0))));
  return {named("loss", t.convert(loss, element)), named("lse", t.convert(lse, element))};
}

SmallVector<Value> CrossEntropyGradOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Type element = getType().getElementType();
  Value logits = t.widen(getLogits()), lse = t.widen(getLse()), dloss = t.widen(getGradient());
  if (getReduction() == LossReduction::Mean) {
    Value divisor = divisorOfMean(t, getTargets(), getIgnoreIndex(), typeOf(logits).getElementType());
    Value dlogits = t.make<CrossEntropyGradOp>(LossReduction::Sum, logits, getTargets(), lse, t.div(dloss, divisor),
                                               getIgnoreIndex());
    return {t.convert(dlogits, element)};
  }
  Value valid = named("counts", validTargets(t, getTargets(), getIgnoreIndex()));
  Value rowScale = named("row_scale", t.select(valid, t.broadcastScalar(dloss, lse), t.constantLike(lse, 0.0)));
  Value probability = named("probability", t.exp(t.sub(logits, named("lse", t.broadcastRows(lse, logits)))));
  Value minusTarget = t.select(isTarget(t, logits, getTargets()), t.add(probability, -1.0), probability);
  return {t.convert(t.mul(minusTarget, t.broadcastRows(rowScale, logits)), element)};
}

//===----------------------------------------------------------------------===//
// Losses as sums
//===----------------------------------------------------------------------===//

bool CrossEntropyOp::ignoresExamples() { return true; }

Value CrossEntropyOp::makeSum(OpBuilder &builder, double ignoredWeight) {
  if (getReduction() == LossReduction::Sum)
    return {};
  setReduction(LossReduction::Sum);
  return builder.create<CountOp>(getLoc(), getLoss().getType(), getTargets(), getIgnoreIndexAttr(),
                                 builder.getF64FloatAttr(ignoredWeight));
}

bool ReduceOp::isSumOrMean() { return getKind() != ReduceKind::Max; }

Value ReduceOp::makeSum(OpBuilder &builder, double) {
  if (getKind() == ReduceKind::Sum)
    return {};
  setKind(ReduceKind::Sum);
  TensorBuilder t(builder, getLoc());
  return t.constant(withShape(getType(), {}), typeOf(getInput()).getNumElements());
}

//===----------------------------------------------------------------------===//
// Markers for differentiation and clipping
//===----------------------------------------------------------------------===//

SmallVector<Value> StopGradientOp::decompose(OpBuilder &) { return {getInput()}; }

SmallVector<Value> GlobalNormOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Type element = getType().getElementType();
  Type exact = element.isBF16() ? builder.getF32Type() : element;
  Value total;
  for (Value input : getInputs()) {
    Value squares = t.convert(t.sumAll(t.square(t.widen(input))), exact);
    total = total ? t.add(total, squares) : squares;
  }
  return {t.convert(t.sqrt(total), element)};
}
