//===- TGPrecision.cpp - unrounded results --------------------------------===//
//
// Results stored in bf16 are computed in f32. Some ops can return the unrounded f32 value.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

/// A sum of wide operands is rounded once less.
Value ReduceOp::buildWide(OpBuilder &builder, Type element, Widen widen) {
  return cloneWide(*this, builder, element, widen);
}
Value ScatterAddOp::buildWide(OpBuilder &builder, Type element, Widen widen) {
  return cloneWide(*this, builder, element, widen);
}

/// Elementwise products of bf16 are exact in f32, and they are summed in f32.
Value ContractOp::buildWide(OpBuilder &builder, Type element, Widen) {
  auto type = withElement(getType(), element);
  return builder.create<ContractOp>(getLoc(), type, getContractionAttr(), getLhs(), getRhs());
}

/// The operand of a narrowing conversion is the unrounded value.
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
