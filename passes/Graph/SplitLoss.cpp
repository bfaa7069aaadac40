//===- SplitLoss.cpp - a mean loss as a sum and a count -------------------===//

#include "dialects/TG/TGBuilder.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "passes/Graph/BatchDims.h"
#include "passes/Graph/Passes.h"
#include "passes/Graph/Signature.h"

namespace braid {
#define GEN_PASS_DEF_SPLITLOSSPASS
#include "passes/Graph/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using namespace braid::tg;

/// Fails if an op that the loss is computed from mixes examples.
static LogicalResult checkNothingMixesBefore(Operation *loss, const BatchDims &dims) {
  SetVector<Operation *> before;
  getBackwardSlice(loss, &before);
  for (Operation *op : before)
    if (dims.endsAt(op)) {
      InFlightDiagnostic error = op->emitError();
      error << "'" << op->getName() << "' mixes the examples of the batch before the loss does: its operands are ("
            << op->getOperandTypes() << ") and its results (" << op->getResultTypes()
            << "); the loss of microbatches would not add up to the loss of the batch";
      error.attachNote(loss->getLoc()) << "the loss is computed here";
      return error;
    }
  return success();
}

/// Checks that the loss is a sum or a mean over the batch; returns its op.
static FailureOr<LossOpInterface> findLoss(func::FuncOp function, Value result) {
  FailureOr<BatchDims> dims = BatchDims::find(function);
  if (failed(dims))
    return failure();
  Operation *op = beforeReshapes(result).getDefiningOp();
  auto loss = dyn_cast_if_present<LossOpInterface>(op);
  if (!loss || !loss.isSumOrMean() || typeOf(result).getNumElements() != 1) {
    InFlightDiagnostic error = op ? op->emitError() : function.emitError();
    error << "the loss, " << result.getType()
          << ", is not a tg.cross_entropy or a tg.reduce (mean or sum) to one number";
    if (op)
      error << " but '" << op->getName() << "'";
    error << "; microbatches can only be accumulated for those";
    return error;
  }
  if (!dims->endsAt(op))
    return op->emitError() << "the loss reduces " << op->getOperand(0).getType() << " to " << op->getResult(0).getType()
                           << ", which does not reduce the batch of " << dims->size();
  if (failed(checkNothingMixesBefore(op, *dims)))
    return failure();
  return loss;
}

namespace {
struct SplitLoss final : braid::impl::SplitLossPassBase<SplitLoss> {
  using SplitLossPassBase::SplitLossPassBase;

  void runOnOperation() final {
    auto function = getOperation().lookupSymbol<func::FuncOp>(functionName);
    if (!function || function.isExternal()) {
      getOperation().emitError() << "no function '" << functionName << "' to split the loss of";
      return signalPassFailure();
    }
    std::optional<unsigned> result = resultWithRole(function, Role::Loss);
    if (!result) {
      function.emitError() << "'" << function.getName() << "' has no result with the role loss";
      return signalPassFailure();
    }
    FailureOr<LossOpInterface> loss = findLoss(function, returnOf(function).getOperand(*result));
    if (failed(loss))
      return signalPassFailure();
    if (!onlyResult(*loss, *result))
      return signalPassFailure();
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(*loss);
    if (Value count = loss->makeSum(builder))
      addResult(function, count, Role::Count);
  }

  /// Fails if the loss is read by more than its result: that would change too.
  static bool onlyResult(Operation *loss, unsigned result) {
    Value value = loss->getResult(0);
    while (value.hasOneUse()) {
      OpOperand &use = *value.use_begin();
      if (isa<func::ReturnOp>(use.getOwner()))
        return true;
      if (!isReshape(use.getOwner()))
        break;
      value = use.getOwner()->getResult(0);
    }
    InFlightDiagnostic error = loss->emitError();
    error << "the loss is used by more than result #" << result << "; it cannot be accumulated over microbatches";
    for (Operation *user : value.getUsers())
      error.attachNote(user->getLoc()) << "used by '" << user->getName() << "'";
    return false;
  }
};
} // namespace
