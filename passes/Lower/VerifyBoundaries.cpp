//===- VerifyBoundaries.cpp - what each level forbids ---------------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/TG/TG.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Lower/Passes.h"

namespace braid {
#define GEN_PASS_DEF_VERIFYVALUESPASS
#define GEN_PASS_DEF_VERIFYMEMORYPASS
#include "passes/Lower/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {
struct VerifyValuesPass : public braid::impl::VerifyValuesPassBase<VerifyValuesPass> {
  void runOnOperation() final {
    bool isClean = true;
    // Kernels check their own bodies, starts their collective.
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<exec::ExecDialect, comm::CommDialect>(op->getDialect()))
        return WalkResult::skip();
      if (!isa<ModuleOp, func::FuncOp, func::ReturnOp>(op)) {
        op->emitOpError() << "is left after kernels were formed: expected an action or a view";
        isClean = false;
      }
      return WalkResult::advance();
    });
    for (auto function : getOperation()->getRegion(0).getOps<func::FuncOp>())
      isClean &= succeeded(tg::verifyStates(function));
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
        op->emitOpError() << "is left after memory was planned: it holds a tensor outside a kernel";
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
