//===- SplitLoss.cpp - split a mean loss into sum and count ---------------===//

#include "dialects/TG/TGBuilder.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "passes/Autodiff/MinCount.h"
#define GEN_PASS_DEF_SPLITLOSSPASS
#include "passes/Autodiff/Passes.h"
#include "passes/Base/Signature.h"
#include "passes/FrontEnd/BatchDims.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

/// Fails if an op that the loss depends on mixes examples.
static LogicalResult checkNoOpMixesExamples(Operation *loss, const BatchDims &dims) {
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

namespace {
/// A loss: a sum or a mean over the batch, to which other terms may be added.
struct Loss {
  LossOpInterface mean;
  SmallVector<arith::AddFOp> sums; ///< Additions from the mean to the result.

  /// Returns the operand of an addition that does not contain the mean.
  OpOperand &otherTerm(arith::AddFOp sum);
};
} // namespace

OpOperand &Loss::otherTerm(arith::AddFOp sum) {
  size_t number = llvm::find(sums, sum) - sums.begin();
  Operation *before = number ? sums[number - 1].getOperation() : mean.getOperation();
  return sum->getOpOperand(stripReshapes(sum.getLhs()).getDefiningOp() == before ? 1 : 0);
}

/// Returns the first term that is a sum or a mean over the batch, and the additions behind it; null if there is none.
/// If `ignoresExamples`, only considers terms that ignore some elements, depending on the data.
static Loss findTerm(Value value, const BatchDims &dims, bool ignoresExamples) {
  Operation *op = stripReshapes(value).getDefiningOp();
  if (auto loss = dyn_cast_if_present<LossOpInterface>(op);
      loss && loss.isSumOrMean() && dims.endsAt(op) && (!ignoresExamples || loss.ignoresExamples()))
    return {loss, {}};
  if (auto sum = dyn_cast_if_present<arith::AddFOp>(op))
    for (Value term : sum->getOperands())
      if (Loss found = findTerm(term, dims, ignoresExamples); found.mean) {
        found.sums.push_back(sum);
        return found;
      }
  return {};
}

/// Returns the term whose divisor is accumulated. Prefers a term whose divisor depends on the data: it must be this
/// one. A mean over all examples has the same weight in each microbatch, so it can be one of the other terms.
static Loss findTerm(Value value, const BatchDims &dims) {
  Loss found = findTerm(value, dims, /*ignoresExamples=*/true);
  return found.mean ? found : findTerm(value, dims, /*ignoresExamples=*/false);
}

/// Checks that the loss can be split, and returns it.
static FailureOr<Loss> findLoss(func::FuncOp function, Value result) {
  FailureOr<BatchDims> dims = BatchDims::find(function);
  if (failed(dims))
    return failure();
  Operation *op = stripReshapes(result).getDefiningOp();
  bool isOneNumber = typeOf(result).getNumElements() == 1;
  Loss loss = isOneNumber ? findTerm(result, *dims) : Loss();
  if (!loss.mean) {
    auto own = dyn_cast_if_present<LossOpInterface>(op);
    if (own && own.isSumOrMean() && isOneNumber)
      return op->emitError() << "the loss reduces " << op->getOperand(0).getType() << " to "
                             << op->getResult(0).getType() << ", which does not reduce the batch of " << dims->size();
    InFlightDiagnostic error = op ? op->emitError() : function.emitError();
    error << "the loss, " << result.getType()
          << ", is not a tg.cross_entropy or a tg.reduce (mean or sum) to one number";
    if (op)
      error << ", but '" << op->getName() << "'";
    error << "; microbatches can only be accumulated for such a loss, or for such a mean plus other terms";
    return error;
  }
  if (failed(checkNoOpMixesExamples(loss.mean, *dims)))
    return failure();
  return loss;
}

/// Whether an op depends on the batch, so that each microbatch has its own value.
static bool dependsOnBatch(Operation *op) {
  SetVector<Operation *> before;
  BackwardSliceOptions options;
  options.inclusive = true;
  getBackwardSlice(op, &before, options);
  auto function = op->getParentOfType<func::FuncOp>();
  SmallVector<BlockArgument> batch = batchInputs(function);
  return llvm::any_of(before, [&](Operation *producer) {
    return llvm::any_of(producer->getOperands(), [&](Value operand) { return llvm::is_contained(batch, operand); });
  });
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
    FailureOr<Loss> loss = findLoss(function, returnOf(function).getOperand(*result));
    if (failed(loss) || !onlyResult(*loss, *result))
      return signalPassFailure();
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(loss->mean);
    double ignoredWeight = loss->sums.empty() ? 0 : minCount(tg::typeOf(loss->mean->getResult(0)).getElementType());
    Value count = loss->mean.makeSum(builder, ignoredWeight);
    if (!loss->sums.empty() && failed(scaleOtherTerms(*loss, count)))
      return signalPassFailure();
    if (count)
      addResult(function, count, Role::Count);
  }

  /// Multiplies the other terms by the count, because the total is divided by the count at the end.
  static LogicalResult scaleOtherTerms(Loss &loss, Value count) {
    if (!count)
      return loss.sums.front().emitError() << "adds a term to a loss that is a sum over the batch, so every microbatch "
                                              "would add the term again; make the loss a mean";
    for (arith::AddFOp sum : loss.sums) {
      OpOperand &term = loss.otherTerm(sum);
      Operation *producer = term.get().getDefiningOp();
      if (producer && dependsOnBatch(producer))
        producer->emitRemark() << "this term of the loss is computed per microbatch: a step has the mean over its "
                                  "microbatches, weighted by their targets, not the term of the whole batch";
      OpBuilder builder(sum);
      TensorBuilder t(builder, sum.getLoc());
      Value weight = t.convert(count, typeOf(term.get()).getElementType());
      term.set(t.mul(term.get(), t.broadcastScalar(weight, term.get())));
    }
    return success();
  }

  /// Fails if the mean has uses other than its result, because they would change too.
  static bool onlyResult(const Loss &loss, unsigned result) {
    Value value = loss.mean->getResult(0);
    while (value.hasOneUse()) {
      Operation *user = *value.user_begin();
      if (isa<func::ReturnOp>(user))
        return true;
      auto sum = dyn_cast<arith::AddFOp>(user);
      if (!isReshape(user) && !(sum && llvm::is_contained(loss.sums, sum)))
        break;
      value = user->getResult(0);
    }
    InFlightDiagnostic error = loss.mean->emitError();
    error << "the loss is used by more than result #" << result << "; it cannot be accumulated over microbatches";
    for (Operation *user : value.getUsers())
      error.attachNote(user->getLoc()) << "used by '" << user->getName() << "'";
    return false;
  }
};
} // namespace
