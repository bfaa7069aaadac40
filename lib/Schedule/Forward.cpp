//===- Forward.cpp - which ops are the forward pass -----------------------===//

#include "lib/Schedule/Forward.h"
#include "dialects/TG/TG.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace braid;

bool braid::isTraining(func::FuncOp program) {
  DenseSet<Attribute> caches;
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    if (auto state = program.getArgAttrOfType<tg::StateAttr>(i, tg::kState); state && state.isCache())
      caches.insert(state.getName());
  for (unsigned i = 0; i < program.getNumResults(); ++i) {
    Attribute updated = program.getResultAttr(i, tg::kUpdates);
    if ((updated && !caches.contains(updated)) || program.getResultAttr(i, tg::kGradOf))
      return true;
  }
  return false;
}

SmallVector<Value> braid::valuesReadBy(Operation *op) {
  SetVector<Value> read;
  read.insert(op->operand_begin(), op->operand_end());
  // A collective under way stands in a region, and reads values around it.
  getUsedValuesDefinedAbove(op->getRegions(), read);
  return read.takeVector();
}

/// Whether a result is one that the model itself computes.
static bool isOfModel(func::FuncOp program, unsigned result) {
  constexpr tg::Role roles[] = {tg::Role::Loss, tg::Role::Logits, tg::Role::Count};
  auto role = program.getResultAttrOfType<tg::RoleAttr>(result, tg::kRole);
  return role && llvm::is_contained(roles, role.getValue());
}

/// The accumulators of the loss and of the count that it is divided by.
static DenseSet<Attribute> accumulatorsOfLoss(func::FuncOp program) {
  DenseSet<Attribute> names;
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    if (auto state = program.getArgAttrOfType<tg::StateAttr>(i, tg::kState); state && state.isOfLoss())
      names.insert(state.getName());
  return names;
}

SmallVector<Value> braid::forwardResults(func::FuncOp program) {
  SmallVector<Value> named, sums, scalars;
  DenseSet<Attribute> accumulators = accumulatorsOfLoss(program);
  for (OpOperand &returned : program.getBody().front().getTerminator()->getOpOperands()) {
    unsigned index = returned.getOperandNumber();
    if (isOfModel(program, index))
      named.push_back(returned.get());
    if (accumulators.contains(program.getResultAttr(index, tg::kUpdates)))
      sums.push_back(returned.get());
    auto type = dyn_cast<RankedTensorType>(returned.get().getType());
    if (type && type.getRank() == 0 && !program.getResultAttr(index, tg::kRole) &&
        !program.getResultAttr(index, tg::kUpdates))
      scalars.push_back(returned.get());
  }
  // In @train the new values of these accumulators are zeros.
  return !named.empty() ? named : !sums.empty() ? sums : scalars;
}
