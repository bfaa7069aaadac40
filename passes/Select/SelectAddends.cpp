//===- SelectAddends.cpp - residual sums as GEMM epilogues ----------------===//
//
// A GEMM library computes D = A B + C and reads C once. With a residual as C, the call writes the sum, which a kernel
// would need two more reads for. At this stage sums are still ops and matmuls are calls, so the other readers of a
// result and the values in memory are known.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/TG/Facts.h"
#include "lib/Memory/Reads.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Select/InlineValues.h"
#define GEN_PASS_DEF_SELECTADDENDSPASS
#include "passes/Select/Passes.h"
#include "passes/Select/SelectMatmul.h"

using namespace mlir;
using namespace braid;

/// Returns the call that defines `term`, if only `add` reads it and the call can add a tensor; else null.
static exec::MatmulOp matmulOf(Value term) {
  auto matmul = term.getDefiningOp<exec::MatmulOp>();
  bool canAddIntoCall = matmul && matmul.getWritten().size() == 1 && term.hasOneUse() && supportsEpilogue(matmul);
  return canAddIntoCall ? matmul : exec::MatmulOp();
}

/// Whether `value` is in memory when `matmul` runs, even if the matmul does not add it: an argument, a call's result,
/// or a kernel's or lookup's result that the matmul or an earlier op also reads.
static bool isInMemoryAt(Value value, exec::MatmulOp matmul) {
  Operation *producer = value.getDefiningOp();
  if (!producer)
    return true;
  if (!producer->isBeforeInBlock(matmul) || isa<exec::ViewOp>(producer) || isInlined(value))
    return false;
  bool isIn = isa<exec::ExecDialect, comm::CommDialect>(producer->getDialect()) && !isa<exec::GatherOp>(producer);
  forEachRead(value, [&](OpOperand &read) { isIn |= !matmul->isBeforeInBlock(readerOf(read)); });
  return isIn;
}

static void moveIntoCall(arith::AddFOp add, exec::MatmulOp matmul, Value addend) {
  OpBuilder builder(matmul);
  auto sum = builder.create<exec::MatmulOp>(tg::fusedLocation({add, matmul}, add.getResult()), TypeRange(add.getType()),
                                            matmul.getContraction(), matmul.getLhs(), matmul.getRhs(), matmul.getBias(),
                                            /*accumulator=*/Value(), /*aux=*/Value(), addend, ValueRange(),
                                            exec::Epilogue::None, /*biasGrad=*/exec::SideAttr());
  add.replaceAllUsesWith(sum.getResult());
  add.erase();
  matmul.erase();
}

static void moveIntoCall(arith::AddFOp add) {
  for (auto [term, other] : {std::pair(add.getRhs(), add.getLhs()), std::pair(add.getLhs(), add.getRhs())})
    if (exec::MatmulOp matmul = matmulOf(term); matmul && isInMemoryAt(other, matmul))
      return moveIntoCall(add, matmul, other);
}

namespace {
struct SelectAddendsPass : public braid::impl::SelectAddendsPassBase<SelectAddendsPass> {
  using SelectAddendsPassBase::SelectAddendsPassBase;

  void runOnOperation() final {
    const TargetInfo *info = targetOf(getOperation());
    if (!info)
      return signalPassFailure();
    if (!info->addendEpilogue || getOperation().isExternal())
      return;
    for (auto add : llvm::make_early_inc_range(getOperation().getBody().front().getOps<arith::AddFOp>()))
      moveIntoCall(add);
  }
};
} // namespace
