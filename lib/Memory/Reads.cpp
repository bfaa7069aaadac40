//===- Reads.cpp - reads of the bytes of a value --------------------------===//

#include "lib/Memory/Reads.h"
#include "dialects/Exec/Views.h"
#include "lib/Memory/Packs.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseSet.h"

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
    auto concat = dyn_cast<ConcatOp>(use.getOwner());
    if (auto view = dyn_cast<ViewOp>(use.getOwner()))
      forEachRead(view.getResult(), visit);
    else if (concat && packOf(concat))
      forEachRead(concat.getResult(), visit);
    else
      visit(use);
  }
}

Operation *braid::readerOf(OpOperand &read) {
  return read.get().getParentBlock()->findAncestorOpInBlock(*read.getOwner());
}

SmallVector<Value> braid::usesOf(Operation *op) {
  SmallVector<Value> uses(op->getOperands());
  if (!op->hasTrait<OpTrait::IsIsolatedFromAbove>())
    visitUsedValuesDefinedAbove(op->getRegions(), [&](OpOperand *use) { uses.push_back(use->get()); });
  return uses;
}

/// Returns whether the reads of `reader` end before `op` begins.
static bool endsBefore(Operation *reader, Operation *op) {
  if (auto action = dyn_cast<ActionOpInterface>(reader))
    reader = action.getActionEnd();
  return reader->isBeforeInBlock(op);
}

bool braid::readsEndBefore(Value root, Operation *op, Operation *excluded) {
  bool haveEnded = true;
  forEachRead(root, [&](OpOperand &read) {
    Operation *reader = readerOf(read);
    haveEnded &= reader == excluded || endsBefore(reader, op);
  });
  return haveEnded;
}

bool braid::mayOverwrite(Value root, ActionOpInterface action, unsigned result) {
  bool canOverwrite = true;
  forEachRead(root, [&](OpOperand &read) {
    Operation *reader = readerOf(read);
    if (reader != action) {
      canOverwrite &= endsBefore(reader, action);
      return;
    }
    // The element that is overwritten must be the one that is read there: only the
    // whole tensor in its own order qualifies.
    auto view = read.get().getDefiningOp<ViewOp>();
    unsigned in = read.getOperandNumber();
    canOverwrite &= (!view || isReshape(view)) && read.get().getType() == action.getActionResults()[result].getType() &&
                    (action.getTiedIn(result) == in || action.mayWriteInPlace(result, in));
  });
  return canOverwrite;
}

bool braid::mayOverwriteParts(Value root, ActionOpInterface action,
                              function_ref<std::optional<unsigned>(Value)> resultAt) {
  bool canOverwrite = true;
  llvm::DenseSet<unsigned> written;
  int64_t elements = 0;
  forEachRead(root, [&](OpOperand &read) {
    Operation *reader = readerOf(read);
    if (reader != action) {
      canOverwrite &= endsBefore(reader, action);
      return;
    }
    std::optional<unsigned> result = resultAt(read.get());
    canOverwrite &= result && read.get().getType() == action.getActionResults()[*result].getType() &&
                    action.mayWriteInPlace(*result, read.getOperandNumber());
    if (result && written.insert(*result).second)
      elements += cast<RankedTensorType>(read.get().getType()).getNumElements();
  });
  return canOverwrite && elements == cast<RankedTensorType>(root.getType()).getNumElements();
}
