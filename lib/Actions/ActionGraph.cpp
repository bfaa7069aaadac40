//===- ActionGraph.cpp - dependences between a program's actions ----------===//

#include "lib/Actions/ActionGraph.h"
#include "dialects/TG/ProgramSignature.h"
#include "lib/Memory/Reads.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace braid;
using exec::ActionOpInterface;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static bool isOrderedAction(Operation *op) {
  auto action = dyn_cast<ActionOpInterface>(op);
  return action && action.isOrdered();
}

ActionRules ActionRules::forActions() {
  return {[](Operation *op) { return isa<ActionOpInterface>(op); }, isOrderedAction};
}

ActionRules ActionRules::forFusion() {
  return {[](Operation *op) { return !isa<exec::ViewOp>(op) && !op->hasTrait<OpTrait::ConstantLike>(); },
          isOrderedAction};
}

ActionRules ActionRules::forTensors() {
  return {[](Operation *) { return true; }, [](Operation *op) { return !isMemoryEffectFree(op); }};
}

//===----------------------------------------------------------------------===//
// Edges of values
//===----------------------------------------------------------------------===//

ActionGraph::ActionGraph(Block &block, ActionRules rules) : block(block), rules(rules) {
  Operation *last = nullptr;
  for (Operation &op : block) {
    if (!isAction(&op))
      continue;
    numbers[&op] = ops.size();
    ops.push_back(&op);
    if (!rules.isOrdered(&op))
      continue;
    if (last) {
      next[last] = &op;
      previous[&op] = last;
    }
    last = &op;
  }
  overwritten.resize(ops.size());
}

bool ActionGraph::isAction(Operation *op) const { return !op->hasTrait<OpTrait::IsTerminator>() && rules.isAction(op); }

void ActionGraph::forEachProducer(Value value, llvm::function_ref<void(Operation *)> visit) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  if (isAction(op))
    return visit(op);
  for (Value operand : op->getOperands())
    forEachProducer(operand, visit);
}

bool ActionGraph::walkReaders(Value value, llvm::function_ref<bool(Operation *)> visit) const {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    Operation *op = block.findAncestorOpInBlock(*user);
    if (isAction(op) || op->hasTrait<OpTrait::IsTerminator>())
      return visit(op);
    return llvm::all_of(op->getResults(), [&](Value result) { return walkReaders(result, visit); });
  });
}

void ActionGraph::forEachReader(Value value, llvm::function_ref<void(Operation *)> visit) const {
  walkReaders(value, [&](Operation *reader) {
    visit(reader);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Edges of memory
//
// Buffer assignment is decided for one order of the actions. It also holds for every
// other order that reads data before it is overwritten. So aliasing adds edges between
// actions, beside the edges of values.
//===----------------------------------------------------------------------===//

namespace {
/// Bytes of a storage, from the first to the last that an action touches.
struct Access {
  unsigned action;
  int64_t begin, end;

  bool overlaps(const Access &other) const { return begin < other.end && other.begin < end; }
  bool covers(const Access &other) const { return begin <= other.begin && other.end <= end; }
};
} // namespace

static Access accessOf(unsigned action, RankedTensorType type, const Layout &layout) {
  int64_t last = layout.offset;
  for (auto [size, stride] : llvm::zip(type.getShape(), layout.strides))
    last += (size - 1) * stride;
  int64_t bytes = elementBytes(type.getElementType());
  return {action, layout.offset * bytes, (last + 1) * bytes};
}

/// Returns for each action, numbered as in `places.actions`, the earlier actions that read or write
/// bytes which it overwrites. Leaves out actions that must come before another of these anyway.
static std::vector<SmallVector<unsigned, 4>> memoryOrder(const Places &places) {
  std::vector<SmallVector<unsigned, 4>> before(places.actions.size());
  // For each storage, the accesses that were not overwritten completely.
  std::vector<SmallVector<Access, 4>> accesses(places.storages.size());
  auto find = [&](unsigned action, Value value) {
    const Place &place = places.places.at(value);
    Access access = accessOf(action, cast<RankedTensorType>(value.getType()), place.layout);
    return std::pair(access, &accesses[place.storage]);
  };
  for (auto [index, action] : llvm::enumerate(places.actions)) {
    unsigned number = index;
    for (Value operand : exec::ActionOpInterface(action).getActionIns()) {
      auto [read, earlier] = find(number, operand);
      earlier->push_back(read);
    }
    for (Value result : exec::ActionOpInterface(action).getActionResults()) {
      auto [write, earlier] = find(number, result);
      for (const Access &other : *earlier)
        if (other.action != number && other.overlaps(write) && !llvm::is_contained(before[number], other.action))
          before[number].push_back(other.action);
      llvm::erase_if(*earlier, [&, write = write](const Access &other) { return write.covers(other); });
      earlier->push_back(write);
    }
  }
  return before;
}

//===----------------------------------------------------------------------===//
// Edges by number
//===----------------------------------------------------------------------===//

static void makeUnique(SmallVectorImpl<unsigned> &sorted) {
  llvm::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
}

SmallVector<unsigned, 4> ActionGraph::reads(unsigned action) const {
  SmallVector<unsigned, 4> producers;
  for (Value used : usesOf(ops[action]))
    forEachProducer(used, [&](Operation *producer) { producers.push_back(numberOf(producer)); });
  makeUnique(producers);
  return producers;
}

std::optional<unsigned> ActionGraph::ordered(unsigned action) const {
  Operation *before = previousOrdered(ops[action]);
  return before ? std::optional(numberOf(before)) : std::nullopt;
}

SmallVector<unsigned, 4> ActionGraph::predecessors(unsigned action) const {
  SmallVector<unsigned, 4> all = reads(action);
  llvm::append_range(all, overwrites(action));
  if (std::optional<unsigned> before = ordered(action))
    all.push_back(*before);
  makeUnique(all);
  return all;
}

void ActionGraph::addOverwrite(unsigned action, Operation *before) {
  unsigned earlier = numberOf(before);
  if (earlier < action && !llvm::is_contained(overwritten[action], earlier))
    overwritten[action].push_back(earlier);
}

void ActionGraph::addUpdates(func::FuncOp program) {
  tg::ProgramSignature(program).forEachUpdate([&](OpOperand &returned, BlockArgument old) {
    forEachProducer(returned.get(), [&](Operation *writer) {
      forEachReader(old, [&](Operation *reader) {
        if (isAction(reader))
          addOverwrite(numberOf(writer), reader);
      });
    });
  });
}

void ActionGraph::addMemoryOrder(const Places &places, ArrayRef<Operation *> originals) {
  for (auto [writer, before] : llvm::zip_equal(originals, memoryOrder(places)))
    for (unsigned earlier : before)
      // Assignment moves some actions itself, such as zeros to where they are written, and will do so again.
      if (writer && originals[earlier])
        addOverwrite(numberOf(writer), originals[earlier]);
}

void ActionGraph::addMemoryOrder(const Places &places) {
  addMemoryOrder(places, llvm::to_vector_of<Operation *>(places.actions));
}
