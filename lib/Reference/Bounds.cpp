//===- Bounds.cpp - which ints an input may hold --------------------------===//

#include "lib/Reference/Bounds.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;

static void limit(InputSlot &slot, int64_t bound) { slot.bound = slot.bound ? std::min(slot.bound, bound) : bound; }

/// The shape of a tensor or reference.
static ArrayRef<int64_t> shapeOf(Value value) {
  if (auto ref = dyn_cast<exec::RefType>(value.getType()))
    return ref.getShape();
  return cast<RankedTensorType>(value.getType()).getShape();
}

static void follow(Value value, InputSlot &slot);

/// Follows what a collective hands on; sums are other numbers.
static void followSent(Value value, comm::CollectiveOpInterface collective, InputSlot &slot) {
  if (collective.getReductionKind())
    return;
  ResultRange results = collective->getResults();
  if (auto start = dyn_cast<comm::StartOp>(collective->getParentOp()); start && start.getWait())
    results = start.getWait()->getResults();
  for (auto [sent, result] : llvm::zip(collective.getSent(), results))
    if (sent == value)
      follow(result, slot);
}

/// Follows the value through ops that keep its elements.  Where a rank looks
/// something up in its part of a table, arithmetic comes before, and the bound is
/// not known.
static void follow(Value value, InputSlot &slot) {
  for (Operation *user : value.getUsers()) {
    if (auto gather = dyn_cast<tg::GatherOp>(user)) {
      if (gather.getIndices() == value)
        limit(slot, shapeOf(gather.getTable())[0]);
    } else if (auto gather = dyn_cast<exec::GatherOp>(user)) {
      if (gather.getIndices() == value)
        limit(slot, shapeOf(gather.getTable())[0]);
    } else if (auto scatter = dyn_cast<tg::ScatterAddOp>(user)) {
      if (scatter.getIndices() == value)
        limit(slot, shapeOf(scatter.getResult())[0]);
    } else if (auto loss = dyn_cast<tg::CrossEntropyOp>(user)) {
      limit(slot, shapeOf(loss.getLogits()).back());
      slot.ignoreIndex = loss.getIgnoreIndex();
    } else if (auto gradient = dyn_cast<tg::CrossEntropyGradOp>(user)) {
      limit(slot, shapeOf(gradient.getLogits()).back());
      slot.ignoreIndex = gradient.getIgnoreIndex();
    } else if (isa<exec::ViewOp>(user) || handsOnNumbers(user)) {
      for (Value result : user->getResults())
        follow(result, slot);
    } else if (auto collective = dyn_cast<comm::CollectiveOpInterface>(user)) {
      followSent(value, collective, slot);
    }
  }
}

void braid::reference::findBound(BlockArgument argument, InputSlot &slot) {
  if (slot.type.getElementType().isInteger())
    follow(argument, slot);
}
