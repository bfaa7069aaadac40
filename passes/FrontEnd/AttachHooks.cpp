//===- AttachHooks.cpp - put ops at hook points ---------------------------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#include "passes/Base/Signature.h"
#include "passes/FrontEnd/HookPoints.h"
#define GEN_PASS_DEF_ATTACHHOOKSPASS
#include "passes/FrontEnd/Passes.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

/// Returns the 2-norm, in the type of arithmetic on `value`.
static Value normOf(TensorBuilder &t, Value value) { return t.sqrt(t.sumAll(t.square(t.widen(value)))); }

/// Returns the location for a norm. It has no tensor facts, because the norm of a gradient is not a gradient.
static Location normLocation(HookOp hook) {
  std::optional<Phase> phase = phaseOf(hook);
  return phase ? withPhase(hook.getLoc(), *phase) : hook.getLoc();
}

/// Returns value * min(1, bound / norm).
static Value clipped(TensorBuilder &t, HookOp hook, double bound) {
  Value value = hook.getInput();
  t.loc = normLocation(hook);
  Value norm = normOf(t, value);
  Value ratio = t.div(t.constantLike(norm, bound), norm);
  Value factor = t.make<arith::MinimumFOp>(ratio, t.constantLike(norm, 1.0));
  t.loc = hook.getLoc();
  Value scaled = t.mul(t.widen(value), t.broadcastScalar(factor, value));
  return t.convert(scaled, typeOf(value).getElementType());
}

/// Inserts the action before the hook, after earlier actions. Names results after `point`.
static void attach(HookOp hook, const HookAction &action, const std::string &point) {
  OpBuilder builder(hook);
  TensorBuilder t(builder, hook.getLoc());
  Value value = hook.getInput();
  auto function = hook->getParentOfType<func::FuncOp>();
  switch (action.kind) {
  case HookAction::Kind::Scale:
    hook.setOperand(t.mul(value, action.amount));
    return;
  case HookAction::Kind::Clip:
    hook.setOperand(clipped(t, hook, action.amount));
    return;
  case HookAction::Kind::Norm:
    t.loc = normLocation(hook);
    return addResult(function, normOf(t, value), kOutput, "norm:" + point);
  case HookAction::Kind::Keep:
    return addResult(function, value, kOutput, "keep:" + point);
  }
}

namespace {
struct AttachHooks : braid::impl::AttachHooksPassBase<AttachHooks> {
  using AttachHooksPassBase::AttachHooksPassBase;

  void runOnOperation() final {
    if (!function.empty() && !getOperation().lookupSymbol<func::FuncOp>(function)) {
      getOperation().emitError() << "no function '" << function << "' to return the reports of hooks";
      return signalPassFailure();
    }
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
  /// Whether this run of the pass attaches the action to the hook.
  bool attachesNow(HookOp hook, const HookAction &action) const {
    auto program = hook->getParentOfType<func::FuncOp>();
    if (action.isReport() && !function.empty() && program.getName() != function.getValue())
      return false;
    return phase == HookTurn::All || (phaseOf(hook) == Phase::Forward) == (phase == HookTurn::Forward);
  }

  LogicalResult attachAll(StringRef name, StringRef text) {
    std::optional<HookAction> parsed = parseHookAction(text);
    if (!parsed)
      return getOperation().emitError() << "unknown action '" << text << "' at \"" << name
                                        << "\"; expected scale:F, clip:F with F above 0, norm or keep";
    // Before differentiation the point may not exist yet.
    FailureOr<SmallVector<HookOp>> hooks = findHooks(getOperation(), name);
    if (phase != HookTurn::Forward)
      hooks = hooksNamed(getOperation(), name);
    if (failed(hooks))
      return failure();
    llvm::erase_if(*hooks, [&](HookOp hook) { return !attachesNow(hook, *parsed); });
    for (HookOp hook : *hooks) {
      if (!isFloat(hook.getInput()) && parsed->kind != HookAction::Kind::Keep)
        return hook.emitOpError() << "is " << hook.getType() << "; " << text << " needs a floating-point tensor";
      bool isNumbered = hooks->size() > 1 && hook.getOrder() != 0;
      attach(hook, *parsed, name.str() + (isNumbered ? ":" + std::to_string(hook.getOrder()) : ""));
    }
    return success();
  }
};
} // namespace
