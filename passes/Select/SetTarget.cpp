//===- SetTarget.cpp - target and machine of a module ---------------------===//

#include "lib/Cost/Machine.h"
#define GEN_PASS_DEF_SETMACHINEPASS
#define GEN_PASS_DEF_SETTARGETPASS
#include "passes/Select/Passes.h"

using namespace mlir;
using namespace braid;

namespace {
struct SetTarget : braid::impl::SetTargetPassBase<SetTarget> {
  using SetTargetPassBase::SetTargetPassBase;

  void runOnOperation() final {
    getOperation()->setAttr(exec::ExecDialect::kTarget, targetAttr(&getContext(), name, arch, card));
    if (!targetOf(getOperation()))
      signalPassFailure();
  }
};

struct SetMachine : braid::impl::SetMachinePassBase<SetMachine> {
  using SetMachinePassBase::SetMachinePassBase;

  void runOnOperation() final {
    llvm::Expected<exec::MachineAttr> machine = readMachine(&getContext(), link, compute);
    if (machine) {
      getOperation()->setAttr(exec::ExecDialect::kMachine, *machine);
    } else {
      getOperation().emitError() << "exec-set-machine: " << llvm::toString(machine.takeError());
      signalPassFailure();
    }
  }
};
} // namespace
