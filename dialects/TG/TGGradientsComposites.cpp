//===- TGGradientsComposites.cpp - gradients of composites ----------------===//
//
// The gradient of a composite is its `*_grad` composite, for which targets have fast
// code. Results that exist for the backward pass (mean, rstd, lse) can be used like any
// other value; gradients that flow into them go through the decomposition.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGGradients.h"

using namespace mlir;
using namespace braid::tg;

using Gradients = SmallVector<Value>;

/// Differentiates the decomposition, for ops whose parts all have gradients.
static Gradients gradientsOfDecomposition(Operation *op, OpBuilder &builder, ArrayRef<Value> dresults,
                                          ArrayRef<bool> needed) {
  auto gradients = differentiateDecomposition(op, builder, dresults, needed);
  if (failed(gradients))
    llvm_unreachable("the composite decomposes into differentiable ops");
  return *gradients;
}

/// Returns whether only the first result has a gradient.
static bool isPlain(ArrayRef<Value> dresults) {
  return dresults[0] && llvm::none_of(dresults.drop_front(), [](Value gradient) { return gradient; });
}

Gradients GeluOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  return {TensorBuilder(builder, getLoc()).make<GeluGradOp>(getKind(), getInput(), dresult[0])};
}

Gradients SiluOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  return {TensorBuilder(builder, getLoc()).make<SiluGradOp>(getInput(), dresult[0])};
}

/// The gradient keeps the same elements, with the same scale.
Gradients DropoutOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  TensorBuilder t(builder, getLoc());
  return {t.make<DropoutOp>(dresult[0].getType(), dresult[0], getKey(), getRateAttr(), getStreamAttr()), Value()};
}

Gradients SoftmaxOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  return {TensorBuilder(builder, getLoc()).make<SoftmaxGradOp>(getResult(), dresult[0])};
}

Gradients LayerNormOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresults, ArrayRef<bool> needed) {
  if (!isPlain(dresults))
    return gradientsOfDecomposition(*this, builder, dresults, needed);
  auto grad = builder.create<LayerNormGradOp>(getLoc(), getInput(), getWeight(), getMean(), getRstd(), dresults[0]);
  Gradients gradients = {grad.getDinput(), grad.getDweight()};
  if (getBias())
    gradients.push_back(grad.getDbias());
  return gradients;
}

Gradients RmsNormOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresults, ArrayRef<bool> needed) {
  if (!isPlain(dresults))
    return gradientsOfDecomposition(*this, builder, dresults, needed);
  auto grad = builder.create<RmsNormGradOp>(getLoc(), getInput(), getWeight(), getRrms(), dresults[0], getOffsetAttr());
  return {grad.getDinput(), grad.getDweight()};
}

Gradients AttentionOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresults, ArrayRef<bool> needed) {
  if (!isPlain(dresults))
    return gradientsOfDecomposition(*this, builder, dresults, needed);
  auto grad = builder.create<AttentionGradOp>(getLoc(), getQuery(), getKey(), getValue(), getResult(), getLse(),
                                              dresults[0], getDocuments(), getQueryStart(), getKeyStart(),
                                              getScaleAttr(), getMaskAttr(), getSoftcapAttr());
  Gradients gradients{grad.getDquery(), grad.getDkey(), grad.getDvalue()};
  gradients.resize(getNumOperands()); // no gradients for documents and positions
  return gradients;
}

/// The transpose of a rotation is the rotation by the negative angle.
Gradients RopeOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  UnitAttr inverse = getInverse() ? UnitAttr() : builder.getUnitAttr();
  return {TensorBuilder(builder, getLoc())
              .make<RopeOp>(dresult[0], getThetaAttr(), getDimsAttr(), getScalingAttr(), inverse)};
}

Gradients CrossEntropyOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresults, ArrayRef<bool> needed) {
  if (!isPlain(dresults))
    return gradientsOfDecomposition(*this, builder, dresults, needed);
  return {TensorBuilder(builder, getLoc())
              .make<CrossEntropyGradOp>(getReductionAttr(), getLogits(), getTargets(), getLse(), dresults[0],
                                        getIgnoreIndexAttr()),
          Value()};
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

/// The selection does not depend on the values, except at ties, so only the selected values have a gradient.
Gradients TopKOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresults, ArrayRef<bool>) {
  TensorBuilder t(builder, getLoc());
  RankedTensorType input = getInput().getType(), found = getIndices().getType();
  int64_t lane = input.getRank() - 1;
  SmallVector<int64_t> shape(found.getShape());
  shape.push_back(input.getShape().back());
  Value dvalues = t.broadcastRows(dresults[0], t.zeros(withShape(input, shape)));
  Value indices = t.broadcastRows(getIndices(), dvalues);
  Value isHere = t.compare(arith::CmpIPredicate::eq, indices, t.iota(indices, lane + 1, found.getElementType()));
  return {t.sum(t.select(isHere, dvalues, t.constantLike(dvalues, 0.0)), {lane})};
}

/// Slots and choices map one to one, so the gradient is a look-up, too.
Gradients DispatchOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  TensorBuilder t(builder, getLoc());
  return {t.sum(t.make<CollectOp>(dresult[0], getSlots(), getChoices()), {2}), Value(), Value()};
}

/// The gradient dispatches choices like tokens that make one choice each.
Gradients CollectOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  TensorBuilder t(builder, getLoc());
  ArrayRef<int64_t> shape = getType().getShape();
  int64_t rows = shape[0], choices = shape[1] * shape[2];
  Value each = t.reshape(dresult[0], {rows, choices, shape[3]}), slots = t.reshape(getSlots(), {rows, choices, 1});
  return {t.make<DispatchOp>(each, slots, getChoices()), Value(), Value()};
}
