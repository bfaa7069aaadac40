//===- ReducePrecision.cpp - element type of sent gradients ---------------===//

#include "dialects/TG/TGBuilder.h"
#include "passes/Collectives/CollectiveRoles.h"
#define GEN_PASS_DEF_REDUCEPRECISIONPASS
#include "passes/Collectives/Passes.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
struct ReducePrecision final : braid::impl::ReducePrecisionPassBase<ReducePrecision> {
  using ReducePrecisionPassBase::ReducePrecisionPassBase;

  void runOnOperation() final {
    func::FuncOp program = getOperation();
    Builder builder(&getContext());
    if (program.isExternal() || !program->hasAttr(CommDialect::kProgram))
      return markAllAnalysesPreserved();
    Type element = type == ElementType::F32 ? Type(builder.getF32Type()) : builder.getBF16Type();
    SmallVector<CollectiveOpInterface> reductions;
    for (auto op : program.getOps<CollectiveOpInterface>())
      if (roleOf(op) == CollectiveRole::Gradient)
        reductions.push_back(op);
    for (CollectiveOpInterface op : reductions)
      reduceIn(op, element);
  }

  /// Converts the sent values to `element`, and the results back.
  static void reduceIn(CollectiveOpInterface op, Type element) {
    OpBuilder builder(op);
    for (auto [operand, result] : llvm::zip_equal(op->getOpOperands(), op->getResults())) {
      tg::TensorBuilder t(builder, tg::locationOf(result));
      Type own = tg::typeOf(result).getElementType();
      if (own == element || !(own.isF32() || own.isBF16()))
        continue;
      builder.setInsertionPoint(op);
      operand.set(t.convert(operand.get(), element));
      result.setType(tg::withElement(tg::typeOf(result), element));
      builder.setInsertionPointAfter(op);
      Value back = t.convert(result, own);
      result.replaceAllUsesExcept(back, back.getDefiningOp());
    }
  }
};
} // namespace
