//===- TGPrecision.cpp - results before they are rounded ------------------===//
//
// What is stored in bf16 is computed in f32: some ops can also give what they
// computed, unrounded.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

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
