//===- VerifyBoundaries.cpp - check the forms between levels --------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/TG/ProgramSignature.h"
#include "lib/Memory/Persistent.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#define GEN_PASS_DEF_VERIFYVALUESPASS
#define GEN_PASS_DEF_VERIFYMEMORYPASS
#include "passes/Checks/Passes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace braid;

/// Checks that host tensors are fetched before they are read, and that their new values are written back.
static LogicalResult verifyHostTensors(func::FuncOp function) {
  llvm::StringSet<> onHost;
  for (BlockArgument argument : function.getArguments()) {
    if (!isOnHost(function, argument.getArgNumber()))
      continue;
    StringRef name = nameOf(function, argument.getArgNumber());
    if (name.empty())
      return function.emitOpError() << "has '" << exec::kHost << "' on argument #" << argument.getArgNumber()
                                    << ", which is neither a parameter nor a state";
    onHost.insert(name);
    for (OpOperand &use : argument.getUses()) {
      Operation *user = use.getOwner();
      auto copy = dyn_cast<comm::CopyOp>(user);
      StringAttr updated = tg::updatedTensorName(use);
      bool isKept = updated && updated == name;
      if (!isKept && !(copy && copy.getTo() == comm::Memory::Device))
        return user->emitOpError() << "reads '" << name
                                   << "', which is in the host's memory; only a comm.copy to the device may read it";
    }
  }
  for (OpOperand &returned : function.getBody().front().getTerminator()->getOpOperands()) {
    StringAttr name = tg::updatedTensorName(returned);
    comm::CopyOp copy = comm::copyOf(returned.get().getDefiningOp());
    bool isWritten = copy && copy.getTo() == comm::Memory::Host;
    if (name && !isa<BlockArgument>(returned.get()) && isWritten != onHost.contains(name))
      return function.emitOpError() << "updates " << name << ", which is in the memory of the "
                                    << (isWritten ? "device" : "host") << ", with a value in the memory of the "
                                    << (isWritten ? "host" : "device");
  }
  return success();
}

/// Checks that values copied to host memory are fetched from there, or are new values of states.
static LogicalResult verifyHostValues(func::FuncOp function) {
  for (auto action : function.getBody().front().getOps<exec::ActionOpInterface>()) {
    comm::CopyOp copy = comm::copyOf(action);
    if (!copy || copy.getTo() != comm::Memory::Host)
      continue;
    for (OpOperand &use : action->getUses()) {
      Operation *user = use.getOwner();
      auto fetch = dyn_cast<comm::CopyOp>(user);
      bool isFetched = fetch && fetch.getTo() == comm::Memory::Device;
      bool isTicket = isa<comm::TicketType>(use.get().getType()); // the wait holds the values
      if (tg::updatedTensorName(use) || isFetched || isTicket)
        continue;
      InFlightDiagnostic diagnostic =
          user->emitOpError() << "reads a value in the host's memory; only a comm.copy to the device may read it";
      diagnostic.attachNote(copy.getLoc()) << "copied to the host here";
      return diagnostic;
    }
  }
  return success();
}

namespace {
struct VerifyValuesPass : public braid::impl::VerifyValuesPassBase<VerifyValuesPass> {
  void runOnOperation() final {
    bool isClean = true;
    // Kernels verify their own bodies, and starts their collectives.
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<exec::ExecDialect, comm::CommDialect>(op->getDialect()))
        return WalkResult::skip();
      if (!isa<ModuleOp, func::FuncOp, func::ReturnOp>(op)) {
        op->emitOpError() << "remains after kernels were formed; expected only actions and views";
        isClean = false;
      }
      return WalkResult::advance();
    });
    for (auto function : getOperation()->getRegion(0).getOps<func::FuncOp>())
      isClean &=
          succeeded(tg::verifyStates(function)) &&
          (function.isExternal() || (succeeded(verifyHostTensors(function)) && succeeded(verifyHostValues(function))));
    if (!isClean)
      signalPassFailure();
  }
};

struct VerifyMemoryPass : public braid::impl::VerifyMemoryPassBase<VerifyMemoryPass> {
  void runOnOperation() final {
    bool isClean = true;
    auto isTensor = [](Type type) { return isa<TensorType>(type); };
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (llvm::any_of(op->getOperandTypes(), isTensor) || llvm::any_of(op->getResultTypes(), isTensor) ||
          isa<func::FuncOp>(op)) {
        op->emitOpError() << "remains after memory was planned, but has a tensor outside of a kernel";
        isClean = false;
        return WalkResult::skip();
      }
      return isa<exec::KernelOp, exec::KernelDefOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    SmallVector<Attribute> kept;
    for (auto tensor : getOperation()->getRegion(0).getOps<exec::TensorOp>())
      kept.push_back(tensor.getValue());
    isClean &= succeeded(tg::verifyStates(kept, [&] { return getOperation()->emitOpError(); }));
    if (!isClean)
      signalPassFailure();
  }
};
} // namespace
