//===- GradientPrecision.cpp - element type of gradient sums --------------===//
//
// The gradient of a value that was read in bf16 is computed in bf16 and converted at the end. For f32 gradients it is
// recomputed in f32 from the first rounding on: a matmul of two bf16 tensors accumulates in f32 anyway, and
// contributions are added in f32.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#include "passes/Base/Signature.h"
#define GEN_PASS_DEF_GRADIENTPRECISIONPASS
#include "passes/Precision/Passes.h"

using namespace mlir;
using namespace braid;

static bool hasElementType(Value value, Type element) { return tg::typeOf(value).getElementType() == element; }

/// Returns the bf16 value that a value is converted from, or null.
static Value narrowSourceOf(Value value) {
  Value source = conversionSource(value);
  return source && tg::typeOf(source).getElementType().isBF16() ? source : Value();
}

/// Whether the value is used only for f32 gradients: each reader converts it to a returned value, or moves it (to
/// parts of the gradient) for such readers.
static bool isOnlyInGradients(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isConversion(user))
      return llvm::all_of(user->getUsers(), llvm::IsaPred<func::ReturnOp>);
    return tg::movesElements(user) && isOnlyInGradients(user->getResult(0));
  });
}

namespace {
struct GradientPrecision final : braid::impl::GradientPrecisionPassBase<GradientPrecision> {
  using GradientPrecisionPassBase::GradientPrecisionPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    widened.clear();
    tg::ProgramSignature signature(function);
    for (OpOperand &returned : returnOf(function)->getOpOperands()) {
      tg::ParamAttr parameter = parameterOf(signature.parameterOfGradient(returned.getOperandNumber()));
      if (!parameter || !tg::typeOf(returned.get()).getElementType().isF32())
        continue;
      returned.set(type == ElementType::F32 ? inF32(returned.get()) : inBF16(returned.get()));
      tg::setTensor(returned.get(), parameter.getName(), tg::TensorKind::Gradient);
    }
    updateType(function);
    eraseDeadOps(function);
  }

  /// Returns a bf16 value with elements of `element`, computed without rounding as far as its ops support that. A
  /// value with other readers is converted, not computed twice.
  Value widen(Value value, Type element) {
    if (Value known = widened.lookup(value))
      return known;
    Operation *op = value.getDefiningOp();
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    if (hasElementType(value, element))
      return value;
    if (auto precise = dyn_cast_if_present<PrecisionOpInterface>(op);
        precise && (value.hasOneUse() || isOnlyInGradients(value)))
      if (Value wide = precise.buildWide(builder, element, [&](Value operand) { return widen(operand, element); }))
        return widened[value] = wide;
    return tg::TensorBuilder(builder, tg::locationOf(value)).convert(value, element);
  }

  Value inF32(Value gradient) {
    Value source = narrowSourceOf(gradient);
    return source ? widen(source, tg::typeOf(gradient).getElementType()) : gradient;
  }

  static Value inBF16(Value gradient) {
    if (Value source = narrowSourceOf(gradient))
      return source;
    OpBuilder builder(gradient.getContext());
    builder.setInsertionPointAfterValue(gradient);
    return tg::TensorBuilder(builder, tg::locationOf(gradient)).convert(gradient, builder.getBF16Type());
  }

  /// f32 versions of bf16 values.
  DenseMap<Value, Value> widened;
};
} // namespace
