//===- LossTargets.cpp - the input that a loss can leave rows of out ------===//

#include "passes/Graph/LossTargets.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Graph/BatchDims.h"
#include "passes/Graph/Signature.h"

using namespace mlir;
using namespace braid;
using tg::CrossEntropyOp;

/// Whether it is what the passes take a graph to be; they say what is not.
static bool isGraph(func::FuncOp function) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  return !function.isExternal() && isa<func::ReturnOp>(function.getBody().front().back()) &&
         llvm::all_of(function.getArgumentTypes(), isTensor) &&
         llvm::all_of(function.getBody().front(), [&](Operation &op) {
           return llvm::all_of(op.getOperandTypes(), isTensor) && llvm::all_of(op.getResultTypes(), isTensor);
         });
}

/// The cross entropy whose loss is the function's, or null: no other loss leaves rows out.
static CrossEntropyOp findCrossEntropy(func::FuncOp function) {
  std::optional<unsigned> result = resultWithRole(function, tg::Role::Loss);
  Value value = result ? beforeReshapes(returnOf(function).getOperand(*result)) : Value();
  auto op = value ? value.getDefiningOp<CrossEntropyOp>() : CrossEntropyOp();
  return op && value == op.getLoss() ? op : CrossEntropyOp();
}

/// Whether, of `ops`, only reshapes on the way to `loss` read `targets`.
static bool onlyLossReads(Value targets, CrossEntropyOp loss, const SetVector<Operation *> &ops) {
  return llvm::all_of(targets.getUsers(), [&](Operation *user) {
    if (user == loss.getOperation() || !ops.contains(user))
      return true;
    return isReshape(user) && onlyLossReads(user->getResult(0), loss, ops);
  });
}

/// Whether the examples of the batch meet in the loss and nowhere before.
static bool onlyLossMixes(func::FuncOp function, CrossEntropyOp loss, const SetVector<Operation *> &before) {
  // Where the batch cannot be followed the answer is no; that is not an error.
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); });
  FailureOr<BatchDims> dims = BatchDims::find(function);
  return succeeded(dims) && dims->endsAt(loss) &&
         llvm::none_of(before, [&](Operation *op) { return dims->endsAt(op); });
}

std::optional<LossTargets> braid::findLossTargets(func::FuncOp model) {
  if (!isGraph(model) || !findCrossEntropy(model))
    return std::nullopt;
  OwningOpRef<func::FuncOp> copy = model.clone(); // following the batch changes it
  CrossEntropyOp loss = findCrossEntropy(*copy);
  auto targets = dyn_cast<BlockArgument>(beforeReshapes(loss.getTargets()));
  int64_t ignored = loss.getIgnoreIndex();
  if (!targets || !llvm::is_contained(batchInputs(*copy), targets) ||
      !cast<RankedTensorType>(targets.getType()).getElementType().isInteger(32) || !llvm::isInt<32>(ignored))
    return std::nullopt;
  SetVector<Operation *> before;
  getBackwardSlice(loss.getOperation(), &before);
  if (!onlyLossReads(targets, loss, before))
    return std::nullopt;
  if (!onlyLossMixes(*copy, loss, before))
    return std::nullopt;
  return LossTargets{model.getArgument(targets.getArgNumber()), static_cast<int32_t>(ignored), loss.getReduction()};
}
