//===- SelectEpilogues.cpp - activations in library calls -----------------===//

#include "dialects/TG/TG.h"
#include "lib/Target/TargetInfo.h"
#include "passes/Lower/Passes.h"
#include "passes/Lower/SelectMatmul.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid {
#define GEN_PASS_DEF_SELECTEPILOGUESPASS
#include "passes/Lower/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

/// The epilogue that is this activation, if the target has it.
static exec::Epilogue epilogueOf(Operation *op, const TargetInfo &target) {
  if (auto gelu = dyn_cast<tg::GeluOp>(op)) {
    bool isTanh = gelu.getKind() == tg::GeluKind::Tanh;
    if (isTanh ? target.geluTanhEpilogue : target.geluErfEpilogue)
      return isTanh ? exec::Epilogue::GeluTanh : exec::Epilogue::GeluErf;
  }
  if (isa<tg::SiluOp>(op) && target.siluEpilogue)
    return exec::Epilogue::Silu;
  return exec::Epilogue::None;
}

/// The contraction, or sum of a contraction and a bias, that only `value` is.
static tg::ContractOp contractOf(Value value) {
  if (!value.hasOneUse())
    return {};
  if (auto add = value.getDefiningOp<arith::AddFOp>())
    for (Value operand : add.getOperands())
      if (auto contract = operand.getDefiningOp<tg::ContractOp>(); contract && contract->hasOneUse())
        return contract;
  return value.getDefiningOp<tg::ContractOp>();
}

static bool moveIntoCall(Operation *activation, exec::Epilogue epilogue, const TargetInfo &target) {
  tg::ContractOp contract = contractOf(activation->getOperand(0));
  if (!contract)
    return false;
  OpBuilder builder(contract);
  Location loc = builder.getFusedLoc({contract.getLoc(), activation->getLoc()});
  auto matmul = builder.create<exec::MatmulOp>(loc, contract.getType(), contract.getSpec(), contract.getLhs(),
                                               contract.getRhs(), Value(), Value(), ValueRange(), exec::Epilogue::None);
  if (!takesEpilogue(matmul)) {
    matmul.erase();
    return false;
  }
  contract.replaceAllUsesWith(matmul.getResult());
  contract.erase();
  if (auto add = activation->getOperand(0).getDefiningOp<arith::AddFOp>()) {
    matmul = fuseBias(add, target);
    // Not a bias: the sum stays, and so does the activation.
    if (!matmul)
      return true;
  }
  matmul->moveBefore(activation);
  matmul.setEpilogue(epilogue);
  activation->replaceAllUsesWith(matmul);
  activation->erase();
  return true;
}

namespace {
struct SelectEpiloguesPass : public braid::impl::SelectEpiloguesPassBase<SelectEpiloguesPass> {
  using SelectEpiloguesPassBase::SelectEpiloguesPassBase;

  void runOnOperation() final {
    const TargetInfo *info = findTarget(getOperation(), target);
    if (!info)
      return signalPassFailure();
    SmallVector<Operation *> activations;
    getOperation().walk([&](Operation *op) {
      if (epilogueOf(op, *info) != exec::Epilogue::None)
        activations.push_back(op);
    });
    for (Operation *activation : activations)
      moveIntoCall(activation, epilogueOf(activation, *info), *info);
  }
};
} // namespace
