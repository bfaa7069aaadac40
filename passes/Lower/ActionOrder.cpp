//===- ActionOrder.cpp - an order of actions that merging keeps -----------===//

#include "passes/Lower/ActionOrder.h"
#include "dialects/Exec/Exec.h"

using namespace mlir;
using namespace braid;

/// More actions than this on one side are not searched.
static constexpr size_t kMaxBetween = 128;

bool ActionOrder::isAction(Operation *op) {
  return !isa<exec::ViewOp>(op) && !op->hasTrait<OpTrait::ConstantLike>() && !op->hasTrait<OpTrait::IsTerminator>();
}

ActionOrder::ActionOrder(Block &block) : block(block) {
  int64_t number = 0;
  Operation *last = nullptr;
  for (Operation &op : block) {
    if (!isAction(&op))
      continue;
    order[&op] = number++;
    auto action = dyn_cast<exec::ActionOpInterface>(op);
    if (!action || !action.isOrdered())
      continue;
    if (last) {
      nextOrdered[last] = &op;
      previousOrdered[&op] = last;
    }
    last = &op;
  }
}

/// What an op reads, in its region too where that is part of the block's program.
static SmallVector<Value> readsOf(Operation *op) {
  SmallVector<Value> reads(op->getOperands());
  if (auto action = dyn_cast<exec::ActionOpInterface>(op); action && op->getNumRegions())
    llvm::append_range(reads, action.getActionIns());
  return reads;
}

Operation *ActionOrder::producer(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isa<exec::ViewOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op && isAction(op) ? op : nullptr;
}

void ActionOrder::addConsumers(Value value, llvm::SmallSetVector<Operation *, 8> &consumers) {
  for (Operation *user : value.getUsers()) {
    if (consumers.size() > kMaxBetween)
      return;
    if (isa<exec::ViewOp>(user))
      addConsumers(user->getResult(0), consumers);
    else if (isAction(user))
      consumers.insert(user);
  }
}

llvm::SmallSetVector<Operation *, 8> ActionOrder::predecessors(Operation *op) const {
  llvm::SmallSetVector<Operation *, 8> producers;
  for (Value operand : readsOf(op))
    if (Operation *producer = ActionOrder::producer(operand))
      producers.insert(producer);
  if (Operation *previous = previousOrdered.lookup(op))
    producers.insert(previous);
  return producers;
}

bool ActionOrder::addSuccessorsBefore(Operation *op, int64_t end, llvm::SetVector<Operation *> &successors) {
  for (Value result : op->getResults())
    if (!addConsumersBefore(result, end, successors))
      return false;
  if (Operation *next = nextOrdered.lookup(op); next && order.at(next) < end)
    successors.insert(next);
  return successors.size() <= kMaxBetween;
}

bool ActionOrder::addConsumersBefore(Value value, int64_t end, llvm::SetVector<Operation *> &consumers) {
  for (Operation *owner : value.getUsers()) {
    Operation *user = block.findAncestorOpInBlock(*owner);
    if (isa<exec::ViewOp>(user)) {
      if (!addConsumersBefore(user->getResult(0), end, consumers))
        return false;
    } else if (isAction(user) && order.at(user) < end) {
      consumers.insert(user);
      if (consumers.size() > kMaxBetween)
        return false;
    }
  }
  return true;
}

FailureOr<ActionOrder::Between> ActionOrder::between(Operation *first, Operation *second) {
  int64_t low = order.at(first), high = order.at(second);
  llvm::SetVector<Operation *> after, before;
  // Readers beyond the second are not counted: every optimizer update reads the
  // scalars of the first, however many parameters there are.
  if (!addSuccessorsBefore(first, high, after))
    return failure();
  for (size_t index = 0; index < after.size(); ++index)
    if (!addSuccessorsBefore(after[index], high + 1, after) || after.contains(second))
      return failure();
  for (Operation *producer : predecessors(second))
    if (order.at(producer) > low)
      before.insert(producer);
  for (size_t index = 0; index < before.size(); ++index) {
    if (before.size() > kMaxBetween)
      return failure();
    for (Operation *producer : predecessors(before[index]))
      if (order.at(producer) > low)
        before.insert(producer);
  }
  return Between{after.takeVector(), before.takeVector()};
}

void ActionOrder::merge(Operation *first, Operation *second, Operation *merged, const Between &between) {
  SmallVector<Operation *> before(between.before), after(between.after);
  auto earlier = [&](Operation *a, Operation *b) { return order.at(a) < order.at(b); };
  llvm::sort(before, earlier);
  llvm::sort(after, earlier);
  SmallVector<int64_t> slots{order.at(first), order.at(second)};
  for (ArrayRef<Operation *> ops : {ArrayRef(before), ArrayRef(after)})
    for (Operation *op : ops)
      slots.push_back(order.at(op));
  llvm::sort(slots);
  order.erase(first);
  order.erase(second);
  for (auto [op, slot] : llvm::zip(before, slots))
    order[op] = slot;
  order[merged] = slots[before.size()];
  for (auto [op, slot] : llvm::zip(after, ArrayRef(slots).take_back(after.size())))
    order[op] = slot;
}

void ActionOrder::replace(Operation *old, Operation *op) {
  int64_t place = order.at(old);
  order.erase(old);
  order[op] = place;
}

/// Moves what `op` reads that is no action in front of it.
static void moveReads(Operation *op, Operation *before, llvm::SmallPtrSetImpl<Operation *> &placed) {
  for (Value operand : readsOf(op)) {
    Operation *source = operand.getDefiningOp();
    if (!source || ActionOrder::isAction(source) || !placed.insert(source).second)
      continue;
    moveReads(source, before, placed);
    source->moveBefore(before);
  }
}

void ActionOrder::apply() {
  SmallVector<Operation *> actions;
  for (auto &[op, place] : order)
    actions.push_back(op);
  llvm::sort(actions, [&](Operation *a, Operation *b) { return order.at(a) < order.at(b); });
  llvm::SmallPtrSet<Operation *, 32> placed;
  Operation *terminator = block.getTerminator();
  for (Operation *action : actions) {
    moveReads(action, terminator, placed);
    action->moveBefore(terminator);
  }
  moveReads(terminator, terminator, placed);
}
