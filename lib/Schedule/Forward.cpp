//===- Forward.cpp - finds the forward pass of a program ------------------===//

#include "lib/Schedule/Forward.h"
#include "dialects/TG/ProgramSignature.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace braid;

bool braid::isTraining(func::FuncOp program) {
  DenseSet<Attribute> caches;
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    if (tg::StateAttr state = tg::ArgumentAttrs(program, i).state; state && state.isCache())
      caches.insert(state.getName());
  return llvm::any_of(llvm::seq(program.getNumResults()), [&](unsigned i) {
    tg::ResultAttrs result(program, i);
    return result.gradientOf || (result.updates && !caches.contains(result.updates));
  });
}

SmallVector<Value> braid::valuesReadBy(Operation *op) {
  SetVector<Value> read;
  read.insert(op->operand_begin(), op->operand_end());
  // The collective of a started communication is in a region, and reads values from outside.
  getUsedValuesDefinedAbove(op->getRegions(), read);
  return read.takeVector();
}

/// Returns whether the model itself computes the result.
static bool isOfModel(const tg::ResultAttrs &result) {
  constexpr tg::Role roles[] = {tg::Role::Loss, tg::Role::Logits, tg::Role::Count};
  return result.role && llvm::is_contained(roles, result.role.getValue());
}

SmallVector<Value> braid::forwardResults(func::FuncOp program) {
  SmallVector<Value> named, sums, scalars;
  tg::ProgramSignature signature(program);
  for (OpOperand &returned : program.getBody().front().getTerminator()->getOpOperands()) {
    const tg::ResultAttrs &result = signature.result(returned.getOperandNumber());
    if (isOfModel(result))
      named.push_back(returned.get());
    tg::StateAttr state = tg::stateOf(signature.updatedArgument(returned.getOperandNumber()));
    if (state && state.isOfLoss()) // the accumulator of the loss, or of the count that divides it
      sums.push_back(returned.get());
    auto type = dyn_cast<RankedTensorType>(returned.get().getType());
    if (type && type.getRank() == 0 && !result.role && !result.updates)
      scalars.push_back(returned.get());
  }
  // Named results come first: in @train, the new values of these accumulators are zeros.
  return !named.empty() ? named : !sums.empty() ? sums : scalars;
}
