//===- AttachHooks.cpp - put ops at hook points ---------------------------===//

#include "dialects/TG/TGBuilder.h"
#include "passes/Graph/HookPoints.h"
#include "passes/Graph/Passes.h"
#include "passes/Graph/Signature.h"

namespace braid {
#define GEN_PASS_DEF_ATTACHHOOKSPASS
#include "passes/Graph/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using namespace braid::tg;

namespace {
enum class ActionKind { Scale, Clip, Norm, Keep };

struct Action {
  ActionKind kind;
  double amount = 0;
};

/// `scale:F`, `clip:F`, `norm` or `keep`.
std::optional<Action> parseAction(StringRef text) {
  if (text == "norm")
    return Action{ActionKind::Norm};
  if (text == "keep")
    return Action{ActionKind::Keep};
  auto [word, number] = text.split(':');
  Action action{word == "scale" ? ActionKind::Scale : ActionKind::Clip};
  if ((word != "scale" && word != "clip") || number.getAsDouble(action.amount))
    return std::nullopt;
  if (action.kind == ActionKind::Clip && !(action.amount > 0))
    return std::nullopt;
  return action;
}

/// The 2-norm, in the type that arithmetic on `value` happens in.
Value normOf(TensorBuilder &t, Value value) { return t.sqrt(t.sumAll(t.square(t.widen(value)))); }

/// value * min(1, bound / norm).
Value clipped(TensorBuilder &t, Value value, double bound) {
  Value norm = normOf(t, value);
  Value ratio = t.div(t.like(norm, bound), norm);
  Value factor = t.make<arith::MinimumFOp>(ratio, t.like(norm, 1.0));
  Value scaled = t.mul(t.widen(value), t.fromScalar(factor, value));
  return t.convert(scaled, typeOf(value).getElementType());
}

/// Puts the action before the hook, behind what was attached earlier.
void attach(HookOp hook, const Action &action, bool isOnlyOne) {
  OpBuilder builder(hook);
  TensorBuilder t(builder, hook.getLoc());
  Value value = hook.getInput();
  std::string point = hook.getName().str();
  if (!isOnlyOne && hook.getOrder() != 0)
    point += ":" + std::to_string(hook.getOrder());
  auto function = hook->getParentOfType<func::FuncOp>();
  switch (action.kind) {
  case ActionKind::Scale:
    hook.setOperand(t.mul(value, action.amount));
    return;
  case ActionKind::Clip:
    hook.setOperand(clipped(t, value, action.amount));
    return;
  case ActionKind::Norm:
    return addResult(function, normOf(t, value), kOutput, "norm:" + point);
  case ActionKind::Keep:
    return addResult(function, value, kOutput, "keep:" + point);
  }
}

struct AttachHooks : braid::impl::AttachHooksPassBase<AttachHooks> {
  using AttachHooksPassBase::AttachHooksPassBase;

  void runOnOperation() final {
    if (at.size() != action.size()) {
      getOperation().emitError() << "at= names " << at.size() << " points but action= gives " << action.size()
                                 << " actions; each point needs one";
      return signalPassFailure();
    }
    for (auto [name, text] : llvm::zip_equal(at, action))
      if (failed(attachAll(name, text)))
        return signalPassFailure();
  }

private:
  LogicalResult attachAll(StringRef name, StringRef text) {
    std::optional<Action> parsed = parseAction(text);
    if (!parsed)
      return getOperation().emitError() << "unknown action '" << text << "' at \"" << name
                                        << "\"; expected scale:F, clip:F with F above 0, norm or keep";
    auto hooks = hooksNamed(getOperation(), name);
    if (failed(hooks))
      return failure();
    for (HookOp hook : *hooks) {
      if (!isFloat(hook.getInput()) && parsed->kind != ActionKind::Keep)
        return hook.emitOpError() << "is " << hook.getType() << "; " << text << " needs a floating-point tensor";
      attach(hook, *parsed, hooks->size() == 1);
    }
    return success();
  }
};
} // namespace
