//===- EarlyUpdates.cpp - move updates up to their gradients --------------===//
//
// The optimizer is appended to the graph, so all its actions stand behind backward, and the gradients of all
// parameters are live until then. This pass moves actions of the update up:
//
//   what:   all actions that read a gradient for the update, with their predecessors, as one group
//   where:  behind the last action that defines an operand of the group, or that reads a tensor which the
//           group overwrites: a weight is overwritten after backward has multiplied by it
//   when:   once the ready groups are worth their launches; until then they wait, so that one launch
//           updates many small parameters
//
// A group that depends on all gradients, such as on their norm, does not move.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/TG/Facts.h"
#include "lib/Actions/ActionGraph.h"
#include "lib/Cost/Machine.h"
#include "lib/Memory/AssignedCopy.h"
#include "lib/Memory/Reads.h"
#define GEN_PASS_DEF_EARLYUPDATESPASS
#include "passes/Memory/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace braid;
using exec::ActionOpInterface;

/// Updates run once they take as long as this many launches, so that launches cost 2% of that time.
static constexpr double kLaunches = 50;

namespace {
/// An action of the update. Places count actions of forward and backward: place 3 is behind the third of them.
struct LateAction {
  ActionOpInterface action;
  unsigned place;     ///< The current place.
  unsigned ready = 0; ///< The earliest possible place.
  double seconds;
  /// Actions of the update that must precede it.
  SmallVector<unsigned, 2> dependences;
};

/// The actions, by number, that must run before the memory of a gradient is free.
struct UpdateGroup {
  SmallVector<unsigned, 2> actions;
  unsigned ready = 0;
};

/// The actions of a program, with those of the update separate.
class Updates {
public:
  Updates(func::FuncOp program, const ComputeRates &rates, bool alsoReduced);
  /// Moves actions up. Returns whether anything has moved.
  bool moveUp();

private:
  void addLate(ActionOpInterface action, const ComputeRates &rates);
  void readNeeds(unsigned number);
  void findGroups(bool alsoReduced);
  UpdateGroup groupOf(Value gradient) const;
  double secondsOf(const UpdateGroup &group) const;
  void takeReady(unsigned place);
  bool run(unsigned place, bool alsoSmall);
  void runAction(unsigned number, unsigned place, SmallVectorImpl<unsigned> &moved);

  ActionGraph graph;
  double launchSeconds;
  SmallVector<Operation *> others; ///< Actions of forward and backward.
  std::vector<LateAction> late;
  DenseMap<Operation *, unsigned> placeOf, numberOf;
  std::vector<UpdateGroup> groups, waiting;
};
} // namespace

/// Whether all results of an action belong to the update. Excludes collectives with a fixed order.
static bool isOfUpdate(ActionOpInterface action) {
  if (action.isOrdered() || action->getNumResults() == 0)
    return false;
  return llvm::all_of(tg::factsOfTensors(action->getResults()),
                      [](tg::FactsAttr facts) { return facts && facts.getPhase() == tg::Phase::Update; });
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

Updates::Updates(func::FuncOp program, const ComputeRates &rates, bool alsoReduced)
    : graph(program.getBody().front()), launchSeconds(rates.launchSeconds) {
  graph.addUpdates(program);
  for (Operation *action : graph.actions()) {
    if (isOfUpdate(cast<ActionOpInterface>(action))) {
      addLate(cast<ActionOpInterface>(action), rates);
      continue;
    }
    placeOf[action] = others.size();
    others.push_back(action);
  }
  for (unsigned number = 0; number < late.size(); ++number)
    readNeeds(number);
  findGroups(alsoReduced);
}

void Updates::addLate(ActionOpInterface action, const ComputeRates &rates) {
  numberOf[action] = late.size();
  late.push_back({action, static_cast<unsigned>(others.size()), 0, rates.parts(action).memory, {}});
}

/// Collects the predecessors of an action: the producers of its operands, and other readers of tensors that it
/// overwrites.
void Updates::readNeeds(unsigned number) {
  LateAction &action = late[number];
  for (unsigned before : graph.predecessors(graph.numberOf(action.action))) {
    Operation *op = graph.actions()[before];
    if (auto other = numberOf.find(op); other != numberOf.end()) {
      action.dependences.push_back(other->second);
      action.ready = std::max(action.ready, late[other->second].ready);
    } else {
      action.ready = std::max(action.ready, placeOf.at(op) + 1);
    }
  }
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static int64_t bytesOf(Value value) {
  return typeOf(value).getNumElements() * elementBytes(typeOf(value).getElementType());
}

/// Returns the actions that read a gradient and, where their results are as large, the readers of these. Returns an
/// empty group if another action reads the gradient too.
UpdateGroup Updates::groupOf(Value gradient) const {
  UpdateGroup group;
  SmallVector<Value> left{gradient};
  while (!left.empty()) {
    Value value = left.pop_back_val();
    bool isOfUpdates = true;
    SmallVector<unsigned, 2> readers;
    graph.forEachReader(value, [&](Operation *op) {
      auto number = numberOf.find(op);
      isOfUpdates &= number != numberOf.end();
      if (number != numberOf.end() && !llvm::is_contained(readers, number->second))
        readers.push_back(number->second);
    });
    if (value == gradient && !isOfUpdates)
      return {};
    for (unsigned number : readers) {
      if (llvm::is_contained(group.actions, number))
        continue;
      group.actions.push_back(number);
      group.ready = std::max(group.ready, late[number].ready);
      for (Value result : late[number].action->getResults())
        if (2 * bytesOf(result) > bytesOf(gradient))
          left.push_back(result);
    }
  }
  return group;
}

/// Finds the groups, in the order in which they become ready.
void Updates::findGroups(bool alsoReduced) {
  llvm::SetVector<Value> gradients;
  for (const LateAction &action : late)
    for (Value operand : usesOf(action.action))
      graph.forEachProducer(operand, [&](Operation *op) {
        // Scalars take too little memory to count.
        bool mayMove = alsoReduced || !isa<comm::CollectiveOpInterface>(op);
        if (mayMove && placeOf.contains(op) && typeOf(rootOf(operand)).getRank() > 0)
          gradients.insert(rootOf(operand));
      });
  for (Value gradient : gradients) {
    UpdateGroup group = groupOf(gradient);
    if (llvm::any_of(group.actions, [&](unsigned number) { return late[number].place > group.ready; }))
      groups.push_back(std::move(group));
  }
  llvm::stable_sort(groups, [](const UpdateGroup &a, const UpdateGroup &b) { return a.ready < b.ready; });
}

double Updates::secondsOf(const UpdateGroup &group) const {
  double seconds = 0;
  for (unsigned number : group.actions)
    seconds += late[number].seconds;
  return seconds;
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

/// Moves an op in front of `before`, with the operands that are not actions and are defined behind it.
static void moveWithReads(Operation *op, Operation *before) {
  for (Value operand : usesOf(op))
    if (Operation *source = operand.getDefiningOp();
        source && !isa<ActionOpInterface>(source) && before->isBeforeInBlock(source))
      moveWithReads(source, before);
  op->moveBefore(before);
}

/// Gives an action and its predecessors the place `place`, unless they already have an earlier one.
void Updates::runAction(unsigned number, unsigned place, SmallVectorImpl<unsigned> &moved) {
  if (late[number].place <= place)
    return;
  late[number].place = place;
  for (unsigned dependence : late[number].dependences)
    runAction(dependence, place, moved);
  moved.push_back(number);
}

/// Runs the waiting groups: all of them, or those that each take as long as a launch.
bool Updates::run(unsigned place, bool alsoSmall) {
  SmallVector<unsigned> moved;
  llvm::erase_if(waiting, [&](const UpdateGroup &group) {
    if (!alsoSmall && secondsOf(group) < launchSeconds)
      return false;
    for (unsigned number : group.actions)
      runAction(number, place, moved);
    return true;
  });
  llvm::sort(moved);
  for (unsigned number : moved)
    moveWithReads(late[number].action, others[place]);
  return !moved.empty();
}

bool Updates::moveUp() {
  bool hasMoved = false;
  const auto *next = groups.data(), *end = next + groups.size();
  auto isWorthLaunches = [&] {
    double seconds = 0;
    for (const UpdateGroup &group : waiting)
      seconds += secondsOf(group);
    return seconds >= kLaunches * launchSeconds;
  };
  // Behind the last action of backward, groups run anyway.
  for (unsigned place = 0; place < others.size(); ++place) {
    for (; next != end && next->ready <= place; ++next)
      waiting.push_back(*next);
    for (bool alsoSmall : {false, true})
      if (isWorthLaunches())
        hasMoved |= run(place, alsoSmall);
  }
  return hasMoved;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static LogicalResult runEarly(func::FuncOp program, const Machine &machine, bool alsoReduced) {
  FailureOr<int64_t> before = transientPeak(program, *machine.target);
  if (failed(before))
    return failure();
  SmallVector<Operation *> order;
  for (Operation &op : program.getBody().front())
    order.push_back(&op);
  if (!Updates(program, machine.compute, alsoReduced).moveUp())
    return success();
  FailureOr<int64_t> after = transientPeak(program, *machine.target);
  if (failed(after))
    return failure();
  // The results of an update may be larger than its operands.
  if (*after > *before)
    for (Operation *op : order)
      op->moveBefore(&program.getBody().front(), program.getBody().front().end());
  return success();
}

namespace {
struct EarlyUpdates final : braid::impl::EarlyUpdatesPassBase<EarlyUpdates> {
  using EarlyUpdatesPassBase::EarlyUpdatesPassBase;

  void runOnOperation() final {
    FailureOr<Machine> machine = machineOf(getOperation());
    if (failed(machine))
      return signalPassFailure();
    for (auto program : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (program.getBody().hasOneBlock() && failed(runEarly(program, *machine, reduced)))
        return signalPassFailure();
  }
};
} // namespace
