//===- RemoveHooks.cpp - remove hook points -------------------------------===//

#include "passes/FrontEnd/HookPoints.h"
#define GEN_PASS_DEF_REMOVEHOOKSPASS
#include "passes/FrontEnd/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

namespace {
struct RemoveHooks : braid::impl::RemoveHooksPassBase<RemoveHooks> {
  using RemoveHooksPassBase::RemoveHooksPassBase;

  void runOnOperation() final {
    SetVector<HookOp> hooks; // a set, because an option may name a point twice
    if (at.empty())
      getOperation().walk([&](HookOp hook) { hooks.insert(hook); });
    for (const std::string &name : at) {
      auto named = hooksNamed(getOperation(), name);
      if (failed(named))
        return signalPassFailure();
      hooks.insert(named->begin(), named->end());
    }
    for (HookOp hook : hooks) {
      hook.replaceAllUsesWith(hook.getInput());
      hook.erase();
    }
  }
};
} // namespace
