//===- MarkGradients.cpp - hooks on the gradients of parameters -----------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#define GEN_PASS_DEF_MARKGRADIENTSPASS
#include "passes/Autodiff/Passes.h"
#include "passes/Base/Signature.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

namespace {
struct MarkGradients final : braid::impl::MarkGradientsPassBase<MarkGradients> {
  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    ProgramSignature signature(function);
    OpBuilder builder(function.getContext());
    for (OpOperand &returned : returnOf(function)->getOpOperands()) {
      BlockArgument parameter = signature.parameterOfGradient(returned.getOperandNumber());
      if (!parameter)
        continue;
      StringAttr name = parameterOf(parameter).getName();
      Value gradient = returned.get();
      builder.setInsertionPointAfterValue(gradient);
      // The gradient is the complete sum of backward; ops on it belong to the update.
      Location loc = withTensor(withPhase(gradient.getLoc(), Phase::Update), name, TensorKind::Gradient);
      returned.set(builder.create<HookOp>(loc, gradient, builder.getStringAttr("param:" + name.getValue()),
                                          builder.getI64IntegerAttr(0)));
    }
  }
};
} // namespace
