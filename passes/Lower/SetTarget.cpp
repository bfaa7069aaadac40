//===- SetTarget.cpp - what a module is compiled for ----------------------===//

#include "lib/Target/TargetInfo.h"
#include "passes/Lower/Passes.h"

namespace braid {
#define GEN_PASS_DEF_SETTARGETPASS
#include "passes/Lower/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {
struct SetTarget : braid::impl::SetTargetPassBase<SetTarget> {
  using SetTargetPassBase::SetTargetPassBase;

  void runOnOperation() final {
    getOperation()->setAttr(exec::ExecDialect::kTarget, targetAttr(&getContext(), name, arch));
    if (!targetOf(getOperation()))
      signalPassFailure();
  }
};
} // namespace
