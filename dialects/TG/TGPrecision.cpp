//===- TGPrecision.cpp - kinds of ops, and results before rounding --------===//
//
// A policy of precision says by kinds what runs in which type.  What is stored in
// bf16 is computed in f32: some ops can also give what they computed, unrounded.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

NumericKind IotaOp::getNumericKind() { return NumericKind::Source; }
NumericKind RandomUniformOp::getNumericKind() { return NumericKind::Source; }
NumericKind CountOp::getNumericKind() { return NumericKind::Source; }

NumericKind BroadcastOp::getNumericKind() { return NumericKind::Movement; }
NumericKind TransposeOp::getNumericKind() { return NumericKind::Movement; }
NumericKind ReshapeOp::getNumericKind() { return NumericKind::Movement; }
NumericKind SliceOp::getNumericKind() { return NumericKind::Movement; }
NumericKind ConcatOp::getNumericKind() { return NumericKind::Movement; }
NumericKind PadOp::getNumericKind() { return NumericKind::Movement; }
NumericKind StopGradientOp::getNumericKind() { return NumericKind::Movement; }
NumericKind HookOp::getNumericKind() { return NumericKind::Movement; }
NumericKind ConvertOp::getNumericKind() { return NumericKind::Conversion; }

NumericKind ContractOp::getNumericKind() { return NumericKind::Contraction; }
NumericKind AttentionOp::getNumericKind() { return NumericKind::Attention; }
NumericKind AttentionGradOp::getNumericKind() { return NumericKind::Attention; }
NumericKind GatherOp::getNumericKind() { return NumericKind::Embedding; }
NumericKind ScatterAddOp::getNumericKind() { return NumericKind::Embedding; }

NumericKind GeluOp::getNumericKind() { return NumericKind::Elementwise; }
NumericKind GeluGradOp::getNumericKind() { return NumericKind::Elementwise; }
NumericKind SiluOp::getNumericKind() { return NumericKind::Elementwise; }
NumericKind SiluGradOp::getNumericKind() { return NumericKind::Elementwise; }
NumericKind ReluOp::getNumericKind() { return NumericKind::Elementwise; }
NumericKind DropoutOp::getNumericKind() { return NumericKind::Elementwise; }
NumericKind RopeOp::getNumericKind() { return NumericKind::Elementwise; }

NumericKind LayerNormOp::getNumericKind() { return NumericKind::Norm; }
NumericKind LayerNormGradOp::getNumericKind() { return NumericKind::Norm; }
NumericKind RmsNormOp::getNumericKind() { return NumericKind::Norm; }
NumericKind RmsNormGradOp::getNumericKind() { return NumericKind::Norm; }
NumericKind SoftmaxOp::getNumericKind() { return NumericKind::Softmax; }
NumericKind SoftmaxGradOp::getNumericKind() { return NumericKind::Softmax; }
NumericKind ReduceOp::getNumericKind() { return NumericKind::Reduction; }
NumericKind CrossEntropyOp::getNumericKind() { return NumericKind::Loss; }
NumericKind CrossEntropyGradOp::getNumericKind() { return NumericKind::Loss; }

NumericKind SgdOp::getNumericKind() { return NumericKind::Optimizer; }
NumericKind AdamOp::getNumericKind() { return NumericKind::Optimizer; }
NumericKind GlobalNormOp::getNumericKind() { return NumericKind::Optimizer; }

//===----------------------------------------------------------------------===//
// Unrounded results
//===----------------------------------------------------------------------===//

/// Sums of wide numbers are rounded once less.
Value ReduceOp::buildWide(OpBuilder &builder, Type element, Widen widen) {
  return cloneWide(*this, builder, element, widen);
}
Value ScatterAddOp::buildWide(OpBuilder &builder, Type element, Widen widen) {
  return cloneWide(*this, builder, element, widen);
}

/// Elementwise products of bf16 are exact in f32, in which they are summed.
Value ContractOp::buildWide(OpBuilder &builder, Type element, Widen) {
  auto type = withElement(getType(), element);
  return builder.create<ContractOp>(getLoc(), type, getContractionAttr(), getLhs(), getRhs());
}

/// What was narrowed is there in full.
Value ConvertOp::buildWide(OpBuilder &, Type element, Widen) {
  return getInput().getType().getElementType() == element ? getInput() : Value();
}

namespace {
/// A sum of contributions to one gradient.
struct WideSum : PrecisionOpInterface::ExternalModel<WideSum, arith::AddFOp> {
  NumericKind getNumericKind(Operation *) const { return NumericKind::Elementwise; }
  Value buildWide(Operation *op, OpBuilder &builder, Type element, Widen widen) const {
    return cloneWide(op, builder, element, widen);
  }
};
} // namespace

void braid::tg::registerPrecisionModels(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, arith::ArithDialect *) { arith::AddFOp::attachInterface<WideSum>(*context); });
}
