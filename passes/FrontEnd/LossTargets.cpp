//===- LossTargets.cpp - targets that a loss can ignore -------------------===//

#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/TG.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Base/Signature.h"
#include "passes/FrontEnd/BatchDims.h"
#include "passes/FrontEnd/InputFacts.h"

using namespace mlir;
using namespace braid;
using tg::CrossEntropyOp;

/// Whether a function has the form that passes require of a graph. The passes report violations.
static bool isGraph(func::FuncOp function) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  return !function.isExternal() && isa<func::ReturnOp>(function.getBody().front().back()) &&
         llvm::all_of(function.getArgumentTypes(), isTensor) &&
         llvm::all_of(function.getBody().front(), [&](Operation &op) {
           return llvm::all_of(op.getOperandTypes(), isTensor) && llvm::all_of(op.getResultTypes(), isTensor);
         });
}

/// Returns the value with the role loss, or null if there is none.
static Value findLoss(func::FuncOp function) {
  std::optional<unsigned> result = resultWithRole(function, tg::Role::Loss);
  return result ? returnOf(function).getOperand(*result) : Value();
}

/// Finds the cross entropies that are the value or terms of it. Other losses ignore no targets.
static void findCrossEntropies(Value value, SmallVectorImpl<CrossEntropyOp> &found) {
  value = stripReshapes(value);
  if (auto sum = value.getDefiningOp<arith::AddFOp>())
    for (Value term : sum->getOperands())
      findCrossEntropies(term, found);
  if (auto op = value.getDefiningOp<CrossEntropyOp>(); op && value == op.getLoss())
    found.push_back(op);
}

/// Returns the cross entropy of the function's loss, or null. If the loss has other terms, which the number of targets
/// weights, the cross entropy must be a mean and the only one.
static CrossEntropyOp findCrossEntropy(func::FuncOp function) {
  Value loss = findLoss(function);
  SmallVector<CrossEntropyOp> found;
  if (loss)
    findCrossEntropies(loss, found);
  bool isAlone = found.size() == 1 && stripReshapes(loss) == found.front().getLoss();
  bool isOnlyMean = found.size() == 1 && found.front().getReduction() == tg::LossReduction::Mean;
  return isAlone || isOnlyMean ? found.front() : CrossEntropyOp();
}

/// Whether `loss` is the only op in `ops` that reads `targets`, directly or through reshapes.
static bool onlyLossReads(Value targets, CrossEntropyOp loss, const SetVector<Operation *> &ops) {
  return llvm::all_of(targets.getUsers(), [&](Operation *user) {
    if (user == loss.getOperation() || !ops.contains(user))
      return true;
    return isReshape(user) && onlyLossReads(user->getResult(0), loss, ops);
  });
}

/// Whether, among the ops that the loss depends on, the cross entropy is the only one that mixes examples.
static bool onlyLossMixes(func::FuncOp function, CrossEntropyOp loss, const SetVector<Operation *> &ops) {
  // The result is false, without an error, if the batch cannot be followed.
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); });
  FailureOr<BatchDims> dims = BatchDims::find(function);
  return succeeded(dims) && dims->endsAt(loss) &&
         llvm::none_of(ops, [&](Operation *op) { return op != loss.getOperation() && dims->endsAt(op); });
}

std::optional<tg::IgnoredTargets> braid::findIgnoredTargets(func::FuncOp model) {
  if (!isGraph(model) || !findCrossEntropy(model))
    return std::nullopt;
  OwningOpRef<func::FuncOp> copy = model.clone(); // finding the batch dims changes the function
  CrossEntropyOp loss = findCrossEntropy(*copy);
  auto targets = dyn_cast<BlockArgument>(stripReshapes(loss.getTargets()));
  int64_t ignored = loss.getIgnoreIndex();
  if (!targets || !llvm::is_contained(batchInputs(*copy), targets) ||
      !cast<RankedTensorType>(targets.getType()).getElementType().isInteger(32) || !llvm::isInt<32>(ignored))
    return std::nullopt;
  SetVector<Operation *> ops;
  BackwardSliceOptions withLoss;
  withLoss.inclusive = true;
  getBackwardSlice(findLoss(*copy), &ops, withLoss);
  StringAttr name = tg::ArgumentAttrs(model.getArgument(targets.getArgNumber())).input;
  if (!name || !onlyLossReads(targets, loss, ops))
    return std::nullopt;
  bool isMean = loss.getReduction() == tg::LossReduction::Mean;
  return tg::IgnoredTargets{name.str(), static_cast<int32_t>(ignored), isMean, onlyLossMixes(*copy, loss, ops)};
}
