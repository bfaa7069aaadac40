//===- Reads.cpp - who reads the bytes of a value -------------------------===//

#include "lib/Memory/Reads.h"
#include "dialects/Exec/Views.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

Value braid::rootOf(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getSource();
  return value;
}

void braid::forEachRead(Value root, function_ref<void(OpOperand &)> visit) {
  for (OpOperand &use : root.getUses()) {
    if (auto view = dyn_cast<ViewOp>(use.getOwner()))
      forEachRead(view.getResult(), visit);
    else
      visit(use);
  }
}

bool braid::readsEndBefore(Value root, Operation *op, Operation *except) {
  bool before = true;
  forEachRead(root, [&](OpOperand &read) {
    before &= read.getOwner() == except || read.getOwner()->isBeforeInBlock(op);
  });
  return before;
}

bool braid::mayOverwrite(Value root, ActionOpInterface action, unsigned result) {
  bool may = true;
  forEachRead(root, [&](OpOperand &read) {
    if (read.getOwner() != action) {
      may &= read.getOwner()->isBeforeInBlock(action);
      return;
    }
    // The same element must be read where the new one is written: only the whole
    // tensor in its own order qualifies.
    auto view = read.get().getDefiningOp<ViewOp>();
    unsigned in = read.getOperandNumber();
    may &= (!view || isReshape(view)) && read.get().getType() == action->getResult(result).getType() &&
           (action.getTiedIn(result) == in || action.mayWriteInPlace(result, in));
  });
  return may;
}
