//===- ActionOrder.cpp - order of actions that merging keeps --------------===//

#include "lib/Actions/ActionOrder.h"
#include "lib/Actions/ReorderActions.h"
#include "lib/Memory/Reads.h"

using namespace mlir;
using namespace braid;

/// Upper limit of actions that are searched on one side.
static constexpr size_t kMaxBetween = 128;

ActionOrder::ActionOrder(Block &block) : block(block), graph(block, ActionRules::forFusion()) {
  for (auto [number, action] : llvm::enumerate(graph.actions()))
    order[action] = number;
}

Operation *ActionOrder::producerOf(Value value) const {
  Operation *found = nullptr;
  graph.forEachProducer(value, [&](Operation *producer) { found = producer; });
  return found;
}

void ActionOrder::addReaders(Value value, llvm::SmallSetVector<Operation *, 8> &readers) const {
  graph.walkReaders(value, [&](Operation *reader) {
    if (graph.isAction(reader))
      readers.insert(reader);
    return readers.size() <= kMaxBetween;
  });
}

llvm::SmallSetVector<Operation *, 8> ActionOrder::predecessors(Operation *op) const {
  llvm::SmallSetVector<Operation *, 8> producers;
  for (Value used : usesOf(op))
    graph.forEachProducer(used, [&](Operation *producer) { producers.insert(producer); });
  if (Operation *previous = graph.previousOrdered(op))
    producers.insert(previous);
  return producers;
}

bool ActionOrder::addSuccessorsBefore(Operation *op, int64_t end, llvm::SetVector<Operation *> &successors) const {
  auto add = [&](Operation *reader) {
    if (graph.isAction(reader) && order.at(reader) < end)
      successors.insert(reader);
    return successors.size() <= kMaxBetween;
  };
  Operation *next = graph.nextOrdered(op);
  return llvm::all_of(op->getResults(), [&](Value result) { return graph.walkReaders(result, add); }) &&
         (!next || add(next));
}

FailureOr<ActionOrder::Between> ActionOrder::between(Operation *first, Operation *second) {
  int64_t low = order.at(first), high = order.at(second);
  llvm::SetVector<Operation *> after, before;
  // Readers beyond the second are not counted: every optimizer update reads the scalars
  // of the first, however many parameters there are.
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

void ActionOrder::apply() {
  SmallVector<Operation *> actions = llvm::to_vector(llvm::make_first_range(order));
  llvm::sort(actions, [&](Operation *a, Operation *b) { return order.at(a) < order.at(b); });
  actions.push_back(block.getTerminator());
  reorderActions(block, actions);
}
