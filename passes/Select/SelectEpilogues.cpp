//===- SelectEpilogues.cpp - activations in library calls -----------------===//
//
// An activation that is the only reader of a contraction becomes the call's epilogue. In training backward reads the
// contraction's result too. A library with both variants keeps this result while it applies GELU, and applies GELU's
// gradient in backward.
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/Views.h"
#include "dialects/TG/Facts.h"
#include "lib/Target/MatmulShape.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#define GEN_PASS_DEF_SELECTEPILOGUESPASS
#include "passes/Select/Passes.h"
#include "passes/Select/SelectMatmul.h"

using namespace mlir;
using namespace braid;

/// Returns the epilogue for this activation if the target supports it.
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

/// Returns the contraction that `value` is, or the contraction that `value` adds a tensor to and alone reads.
static tg::ContractOp contractOf(Value value) {
  if (auto add = value.getDefiningOp<arith::AddFOp>()) {
    for (Value operand : add.getOperands())
      if (auto contract = operand.getDefiningOp<tg::ContractOp>(); contract && contract->hasOneUse())
        return contract;
    return {};
  }
  return value.getDefiningOp<tg::ContractOp>();
}

static exec::MatmulOp createCall(OpBuilder &builder, Location loc, tg::ContractOp contract) {
  return builder.create<exec::MatmulOp>(loc, contract.getType(), contract.getContraction(), contract.getLhs(),
                                        contract.getRhs(), Value(), Value(), ValueRange(), exec::Epilogue::None);
}

/// Whether the library can keep, or read, the input of GELU beside this call's result: it is one matrix whose rows
/// have a supported length.
static bool supportsAux(exec::MatmulOp matmul, const TargetInfo &target) {
  auto type = cast<RankedTensorType>(matmul.getResult().getType());
  FailureOr<MatmulShape> shape = matmulShape(matmul.getContraction(), exec::layoutOf(matmul.getLhs()),
                                             exec::layoutOf(matmul.getRhs()), exec::RefType::contiguous(type));
  return target.geluAuxMultiple && succeeded(shape) && shape->batch.empty() && shape->n % target.geluAuxMultiple == 0;
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// Returns a call that applies `epilogue` and returns its input as a second result.
static exec::MatmulOp keepInput(exec::MatmulOp matmul, exec::Epilogue epilogue) {
  OpBuilder builder(matmul);
  Type type = matmul.getResult().getType();
  auto keeping = builder.create<exec::MatmulOp>(matmul.getLoc(), TypeRange{type, type}, matmul.getContraction(),
                                                matmul.getLhs(), matmul.getRhs(), matmul.getBias(),
                                                /*accumulator=*/Value(), /*aux=*/Value(), /*addend=*/Value(),
                                                ValueRange(), epilogue, exec::SideAttr());
  matmul.getResult().replaceAllUsesWith(keeping.getWritten()[1]);
  matmul.erase();
  return keeping;
}

static void moveIntoCall(Operation *activation, exec::Epilogue epilogue, const TargetInfo &target) {
  Value input = activation->getOperand(0);
  tg::ContractOp contract = contractOf(input);
  if (!contract)
    return;
  const bool isSaved = !input.hasOneUse();
  OpBuilder builder(contract);
  exec::MatmulOp matmul =
      createCall(builder, tg::fusedLocation({contract, activation}, activation->getResults()), contract);
  bool isPossible = !isSaved || (epilogue == exec::Epilogue::GeluTanh && supportsAux(matmul, target));
  if (!supportsEpilogue(matmul) || !isPossible) {
    matmul.erase();
    return;
  }
  contract.replaceAllUsesWith(matmul.getResult());
  contract.erase();
  if (auto add = activation->getOperand(0).getDefiningOp<arith::AddFOp>()) {
    matmul = fuseBias(add, target);
    // The addend is not a bias: the sum and the activation stay.
    if (!matmul)
      return;
  }
  if (isSaved) {
    matmul = keepInput(matmul, epilogue);
  } else {
    matmul->moveBefore(activation);
    matmul.setEpilogue(epilogue);
  }
  activation->replaceAllUsesWith(ValueRange(matmul.getResult()));
  activation->erase();
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Moves a gradient of GELU into the contraction that defines its other operand, if a call has kept GELU's input.
static void moveIntoCall(tg::GeluGradOp grad, const TargetInfo &target) {
  auto contract = grad.getGradient().getDefiningOp<tg::ContractOp>();
  auto keeping = grad.getInput().getDefiningOp<exec::MatmulOp>();
  if (grad.getKind() != tg::GeluKind::Tanh || !contract || !contract->hasOneUse() || !keeping ||
      !keeping.keepsInput() || grad.getInput() != keeping.getWritten()[1])
    return;
  OpBuilder builder(grad);
  exec::MatmulOp matmul = createCall(builder, tg::fusedLocation({contract, grad}, grad.getResult()), contract);
  if (!supportsEpilogue(matmul) || !supportsAux(matmul, target)) {
    matmul.erase();
    return;
  }
  matmul.setEpilogue(exec::Epilogue::GeluTanhGrad);
  matmul.getAuxMutable().assign(grad.getInput());
  grad.replaceAllUsesWith(matmul.getResult());
  grad.erase();
  contract.erase();
}

namespace {
struct SelectEpiloguesPass : public braid::impl::SelectEpiloguesPassBase<SelectEpiloguesPass> {
  using SelectEpiloguesPassBase::SelectEpiloguesPassBase;

  void runOnOperation() final {
    const TargetInfo *info = targetOf(getOperation());
    if (!info)
      return signalPassFailure();
    SmallVector<Operation *> activations;
    SmallVector<tg::GeluGradOp> gradients;
    getOperation().walk([&](Operation *op) {
      if (epilogueOf(op, *info) != exec::Epilogue::None)
        activations.push_back(op);
      if (auto grad = dyn_cast<tg::GeluGradOp>(op))
        gradients.push_back(grad);
    });
    for (Operation *activation : activations)
      moveIntoCall(activation, epilogueOf(activation, *info), *info);
    for (tg::GeluGradOp grad : gradients)
      moveIntoCall(grad, *info);
  }
};
} // namespace
