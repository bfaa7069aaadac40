//===- VerifyPrimitives.cpp - the boundary between graph and exec ---------===//

#include "dialects/Comm/Comm.h"
#include "dialects/TG/TG.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#define GEN_PASS_DEF_VERIFYPRIMITIVESPASS
#include "passes/Primitives/Passes.h"

using namespace mlir;
using namespace braid;

namespace {
struct VerifyPrimitives : braid::impl::VerifyPrimitivesPassBase<VerifyPrimitives> {
  void runOnOperation() final {
    bool isClean = succeeded(tg::verifyStates(getOperation()));
    bool isOfRank = getOperation()->hasAttr(comm::CommDialect::kProgram);
    getOperation().walk([&](Operation *op) { isClean &= succeeded(check(op, isOfRank)); });
    if (!isClean)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  static LogicalResult check(Operation *op, bool isOfRank) {
    if (isa<DecomposableOpInterface>(op))
      return op->emitOpError() << "is a composite; run tg-decompose before this boundary";
    if (auto hook = dyn_cast<tg::HookOp>(op))
      return op->emitOpError() << "\"" << hook.getName()
                               << "\" is still a hook; run tg-remove-hooks before this boundary";
    // Library calls may be selected before composites are decomposed, because their epilogues match activations as one
    // op.
    bool isLibraryCall = op->getName().getDialectNamespace() == "exec";
    bool communicates = isOfRank && isa_and_nonnull<comm::CommDialect>(op->getDialect());
    if (!isLibraryCall && !communicates &&
        !isa_and_nonnull<tg::TGDialect, arith::ArithDialect, math::MathDialect, func::FuncDialect>(op->getDialect()))
      return op->emitOpError() << "does not belong to a training graph of tg, arith, math and func";
    return success();
  }
};
} // namespace
