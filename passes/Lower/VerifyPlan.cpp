//===- VerifyPlan.cpp - the boundary below planning -----------------------===//

#include "lib/Memory/PlanVerifier.h"
#include "lib/Target/TargetInfo.h"
#include "passes/Lower/Passes.h"

namespace braid {
#define GEN_PASS_DEF_VERIFYPLAN
#include "passes/Lower/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {
struct VerifyPlan : braid::impl::VerifyPlanBase<VerifyPlan> {
  using VerifyPlanBase::VerifyPlanBase;

  void runOnOperation() final {
    const TargetInfo *info = targetOf(getOperation());
    if (!info || failed(verifyPlan(getOperation(), info->alignment)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
