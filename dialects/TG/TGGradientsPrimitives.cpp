//===- TGGradientsPrimitives.cpp - gradients of primitives ----------------===//
//
// Contraction, movement and reduction are linear, except a maximum: the gradient is the transposed map.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"

using namespace mlir;
using namespace braid::tg;

using Gradients = SmallVector<Value>;

Gradients ContractOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool> needed) {
  TensorBuilder t(builder, getLoc());
  ContractionAttr dims = getContraction();
  Gradients gradients(2);
  // Operands that are multiplied in bf16 forward are multiplied in bf16 here; only sums may be wider.
  Value dy = t.convert(dresult[0], getLhs().getType().getElementType());
  if (needed[0])
    gradients[0] = t.contract(dims.getResult() + "," + dims.getRhs() + "->" + dims.getLhs(), dy, getRhs());
  if (needed[1])
    gradients[1] = t.contract(dims.getLhs() + "," + dims.getResult() + "->" + dims.getRhs(), getLhs(), dy);
  return gradients;
}

Gradients BroadcastOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  TensorBuilder t(builder, getLoc());
  RankedTensorType input = getInput().getType();
  // New dims, and dims of size 1 that were repeated, are summed.
  SmallVector<int64_t> repeated = otherDims(getDims(), getType().getRank());
  for (auto [index, dim] : llvm::enumerate(getDims()))
    if (input.getDimSize(index) != getType().getDimSize(dim))
      repeated.push_back(dim);
  llvm::sort(repeated);
  return {t.reshape(t.sum(dresult[0], repeated), input.getShape())};
}

Gradients ReduceOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  TensorBuilder t(builder, getLoc());
  RankedTensorType input = getInput().getType();
  SmallVector<int64_t> kept = otherDims(getDims(), input.getRank());
  auto spread = [&](Value value) { return t.broadcast(value, input, kept); };
  switch (getKind()) {
  case ReduceKind::Sum:
    return {spread(dresult[0])};
  case ReduceKind::Mean: {
    double count = static_cast<double>(input.getNumElements()) / getType().getNumElements();
    return {spread(t.mul(dresult[0], 1.0 / count))};
  }
  case ReduceKind::Max: {
    // Equal maxima share the gradient equally.
    Value isMax = t.compare(arith::CmpFPredicate::OEQ, getInput(), spread(getResult()));
    Value ties = t.sum(t.convert(isMax, input.getElementType()), getDims());
    return {t.select(isMax, spread(t.div(dresult[0], ties)), t.zeros(input))};
  }
  }
  llvm_unreachable("unknown reduction");
}

Gradients TransposeOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [index, dim] : llvm::enumerate(getPermutation()))
    inverse[dim] = index;
  return {TensorBuilder(builder, getLoc()).transpose(dresult[0], inverse)};
}

Gradients ReshapeOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  return {TensorBuilder(builder, getLoc()).reshape(dresult[0], getInput().getType().getShape())};
}

/// Inserts `stride - 1` zeros after each element along `dim`.
static Value dilate(TensorBuilder &t, Value value, int64_t dim, int64_t stride) {
  SmallVector<int64_t> split(typeOf(value).getShape()), joined = split;
  split.insert(split.begin() + dim + 1, 1);
  joined[dim] *= stride;
  return t.reshape(t.padZeros(t.reshape(value, split), dim + 1, 0, stride - 1), joined);
}

Gradients SliceOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  TensorBuilder t(builder, getLoc());
  int64_t dim = getDim(), offset = getOffset(), extent = getInput().getType().getDimSize(dim);
  Value gradient = dresult[0];
  if (getStride() > 1)
    gradient = dilate(t, gradient, dim, getStride());
  // The zeros after the last element may lie outside the operand.
  int64_t size = std::min(typeOf(gradient).getDimSize(dim), extent - offset);
  gradient = t.slice(gradient, dim, 0, size);
  return {t.padZeros(gradient, dim, offset, extent - offset - size)};
}

Gradients ConcatOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool> needed) {
  TensorBuilder t(builder, getLoc());
  Gradients gradients(getInputs().size());
  int64_t offset = 0;
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    int64_t size = typeOf(input).getDimSize(getDim());
    if (needed[index])
      gradients[index] = t.slice(dresult[0], getDim(), offset, size);
    offset += size;
  }
  return gradients;
}

Gradients ReorderOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  TensorBuilder t(builder, getLoc());
  SmallVector<int64_t> inverse(getOrder().size());
  for (auto [place, block] : llvm::enumerate(getOrder()))
    inverse[block] = place;
  return {t.make<ReorderOp>(dresult[0], getDim(), inverse)};
}

Gradients PadOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  TensorBuilder t(builder, getLoc());
  return {t.slice(dresult[0], getDim(), getLow(), getInput().getType().getDimSize(getDim()))};
}

Gradients GatherOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  TensorBuilder t(builder, getLoc());
  return {t.make<ScatterAddOp>(getTable().getType(), getIndices(), dresult[0]), Value()};
}

Gradients ScatterAddOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  TensorBuilder t(builder, getLoc());
  return {Value(), t.make<GatherOp>(dresult[0], getIndices())};
}

Gradients ConvertOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  TensorBuilder t(builder, getLoc());
  return {t.convert(dresult[0], getInput().getType().getElementType())};
}

Gradients StopGradientOp::buildVJP(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>) { return {Value()}; }

Gradients HookOp::buildVJP(OpBuilder &builder, ArrayRef<Value> dresult, ArrayRef<bool>) {
  TensorBuilder t(builder, getLoc());
  return {t.make<HookOp>(dresult[0], builder.getStringAttr(getName() + ".grad"), getOrderAttr())};
}
