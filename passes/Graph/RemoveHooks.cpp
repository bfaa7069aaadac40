//===- RemoveHooks.cpp - take hook points out -----------------------------===//

#include "passes/Graph/HookPoints.h"
#include "passes/Graph/Passes.h"

namespace braid {
#define GEN_PASS_DEF_REMOVEHOOKSPASS
#include "passes/Graph/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using namespace braid::tg;

namespace {
struct RemoveHooks : braid::impl::RemoveHooksPassBase<RemoveHooks> {
  using RemoveHooksPassBase::RemoveHooksPassBase;

  void runOnOperation() final {
    SmallVector<HookOp> hooks;
    if (at.empty())
      getOperation().walk([&](HookOp hook) { hooks.push_back(hook); });
    for (const std::string &name : at) {
      auto named = hooksNamed(getOperation(), name);
      if (failed(named))
        return signalPassFailure();
      hooks.append(named->begin(), named->end());
    }
    for (HookOp hook : hooks) {
      hook.replaceAllUsesWith(hook.getInput());
      hook.erase();
    }
  }
};
} // namespace
