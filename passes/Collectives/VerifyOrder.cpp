//===- VerifyOrder.cpp - ranks do not deadlock ----------------------------===//

#include "lib/Schedule/OrderVerifier.h"
#include "passes/Collectives/Passes.h"

namespace braid {
#define GEN_PASS_DEF_VERIFYORDER
#include "passes/Collectives/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {
struct VerifyOrder : braid::impl::VerifyOrderBase<VerifyOrder> {
  void runOnOperation() final {
    if (failed(verifyOrder(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
