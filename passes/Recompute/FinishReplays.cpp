//===- FinishReplays.cpp - turn replays into ordinary ops -----------------===//

#include "dialects/TG/Replays.h"
#include "passes/Base/Signature.h"
#define GEN_PASS_DEF_FINISHREPLAYSPASS
#include "passes/Recompute/Passes.h"

using namespace mlir;
using namespace braid;

namespace {
struct FinishReplaysPass final : braid::impl::FinishReplaysPassBase<FinishReplaysPass> {
  void runOnOperation() final {
    bool hasReplays = false;
    getOperation().walk([&](Operation *op) {
      hasReplays |= op->removeAttr(tg::kReplays) != nullptr;
      op->removeAttr(tg::kRepeated);
      op->removeAttr(tg::kKept);
    });
    if (hasReplays)
      eraseDeadOps(getOperation());
  }
};
} // namespace
