//===- ReorderActions.cpp - reordering of a block's actions ---------------===//

#include "lib/Actions/ReorderActions.h"
#include "lib/Memory/Reads.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace braid;

namespace {
/// Moves ops to the end of their block, each after the ops it uses.
class Mover {
public:
  explicit Mover(Block &block) : block(block) {}
  void move(Operation *op) {
    if (!moved.insert(op).second)
      return;
    for (Value used : usesOf(op))
      if (Operation *producer = used.getDefiningOp(); producer && producer->getBlock() == &block)
        move(producer);
    op->moveBefore(&block, block.end());
  }

private:
  Block &block;
  DenseSet<Operation *> moved;
};
} // namespace

void braid::reorderActions(Block &block, ArrayRef<Operation *> actions) {
  SmallVector<Operation *> all;
  for (Operation &op : block)
    all.push_back(&op);
  Mover mover(block);
  for (Operation *action : actions)
    mover.move(action);
  for (Operation *op : all) // ops that no action uses, and the terminator
    mover.move(op);
  all.back()->moveBefore(&block, block.end());
}
