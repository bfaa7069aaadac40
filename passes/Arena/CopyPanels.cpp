//===- CopyPanels.cpp - copy the operands of a matmul once ----------------===//
//
// Runs in memory form, where operand layouts and the scratch memory of calls are known.
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/MatmulMarks.h"
#include "lib/Target/MatmulShape.h"
#include "lib/Target/TargetInfo.h"
#define GEN_PASS_DEF_COPYPANELSPASS
#include "passes/Arena/Passes.h"
#include "runtime/MatmulPanels.h"

using namespace mlir;
using namespace braid;

/// Returns the shape of a single bf16 GEMM; fails for others.
static FailureOr<MatmulShape> singleMatmul(exec::MatmulOp matmul) {
  auto type = [](Value ref) { return cast<exec::RefType>(ref.getType()); };
  if (!type(matmul.getLhs()).getElementType().isBF16() || !type(matmul.getRhs()).getElementType().isBF16())
    return failure();
  FailureOr<MatmulShape> shape = matmulShape(matmul.getContraction(), type(matmul.getLhs()), type(matmul.getRhs()),
                                             type(matmul.getOuts().front()));
  if (succeeded(shape) && (!shape->batch.empty() || !shape->outer.empty()))
    return failure();
  return shape;
}

namespace {
struct CopyPanels final : braid::impl::CopyPanelsPassBase<CopyPanels> {
  using CopyPanelsPassBase::CopyPanelsPassBase;

  void runOnOperation() final {
    const TargetInfo *target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    if (target->panelRows == 0)
      return;
    getOperation().walk([&](exec::MatmulOp matmul) {
      FailureOr<MatmulShape> shape = singleMatmul(matmul);
      if (succeeded(shape) && shape->m >= target->panelRows &&
          panelBytes(shape->k, shape->n) < matmul.getWorkspaceBytes(target->workspace))
        matmul->setAttr(exec::kPanels, UnitAttr::get(&getContext()));
    });
  }
};
} // namespace
