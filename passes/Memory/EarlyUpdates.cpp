//===- EarlyUpdates.cpp - updates as soon as gradients are there ----------===//
//
// The optimizer is appended to the graph, so all of its actions stand behind backward and the
// gradients of all parameters are held for them together.  Here actions of the update move up:
//
//   what    all that reads a gradient for the update, and what that needs, as one group
//   where   behind the last action that makes what the group reads, or that reads what it
//           overwrites: a weight is overwritten after backward has multiplied by it
//   when    once the groups that are ready are worth their launches; until then they wait, so
//           that one launch updates many small parameters
//
// A group that needs something of all gradients, such as their norm, is ready where it is.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/ProgramSignature.h"
#include "lib/Cost/Cost.h"
#include "lib/Memory/AssignedCopy.h"
#include "lib/Memory/Persistent.h"
#include "lib/Memory/Reads.h"
#include "passes/Memory/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace braid {
#define GEN_PASS_DEF_EARLYUPDATESPASS
#include "passes/Memory/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using exec::ActionOpInterface;

/// Updates run when they take as long as so many launches, so launching is 2% of that time.
static constexpr double kLaunches = 50;

namespace {
/// An action of the update.  Places are counted in actions of forward and backward: at 3 it
/// stands behind the third of them.
struct Late {
  ActionOpInterface action;
  unsigned place;     ///< Where it stands.
  unsigned ready = 0; ///< Where it may stand at the earliest.
  double seconds;
  /// Actions of the update that come before it.
  SmallVector<unsigned, 2> needs;
};

/// What must run before the memory of a gradient is free, by the numbers of actions.
struct UpdateGroup {
  SmallVector<unsigned, 2> actions;
  unsigned ready = 0;
};

/// The actions of a program, those of the update apart.
class Updates {
public:
  Updates(func::FuncOp program, const ComputeRates &rates, bool alsoReduced);
  /// Whether anything has moved.
  bool moveUp();

private:
  void addLate(ActionOpInterface action, const ComputeRates &rates);
  void readOverwritten();
  void readNeeds(unsigned number);
  void findGroups(bool alsoReduced);
  UpdateGroup groupOf(Value gradient) const;
  double secondsOf(const UpdateGroup &group) const;
  void takeReady(unsigned place);
  bool run(unsigned place, bool alsoSmall);
  void runAction(unsigned number, unsigned place, SmallVectorImpl<unsigned> &moved);

  func::FuncOp program;
  Block &block;
  double launchSeconds;
  SmallVector<Operation *> others; ///< Actions of forward and backward.
  std::vector<Late> late;
  DenseMap<Operation *, unsigned> placeOf, numberOf;
  /// The parameters and states that an action writes new values over.
  DenseMap<Operation *, SmallVector<Value, 4>> overwritten;
  std::vector<UpdateGroup> groups, waiting;
};
} // namespace

static bool isAction(Operation *op) { return isa<ActionOpInterface>(op); }

/// Whether an action makes nothing but what the update is about.  Collectives stay in their
/// order.
static bool isOfUpdate(ActionOpInterface action) {
  if (isa<comm::CollectiveOpInterface>(action.getOperation()) || action.isOrdered() || action->getNumResults() == 0)
    return false;
  return llvm::all_of(tg::factsOfTensors(action->getResults()),
                      [](tg::FactsAttr facts) { return facts && facts.getPhase() == tg::Phase::Update; });
}

/// The actions that read a value, through views and concats; null for one that is returned.
static void forEachReader(Value value, llvm::function_ref<void(Operation *)> visit) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = readerOf(use);
    if (isAction(user))
      visit(user);
    else if (user->hasTrait<OpTrait::IsTerminator>())
      visit(nullptr);
    else
      for (Value result : user->getResults())
        forEachReader(result, visit);
  }
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

Updates::Updates(func::FuncOp program, const ComputeRates &rates, bool alsoReduced)
    : program(program), block(program.getBody().front()), launchSeconds(rates.launchSeconds) {
  readOverwritten();
  for (auto action : block.getOps<ActionOpInterface>()) {
    if (isOfUpdate(action)) {
      addLate(action, rates);
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

void Updates::readOverwritten() {
  tg::ProgramSignature signature(program);
  for (OpOperand &returned : block.getTerminator()->getOpOperands())
    if (BlockArgument argument = signature.updatedBy(returned.getOperandNumber()))
      forEachProducer(returned.get(), [&](Operation *op) { overwritten[op].push_back(argument); });
}

/// What comes before an action: who makes its operands, and who else reads what it overwrites.
void Updates::readNeeds(unsigned number) {
  Late &action = late[number];
  auto comesBefore = [&](Operation *op) {
    if (!op || op == action.action)
      return;
    if (auto other = numberOf.find(op); other == numberOf.end()) {
      action.ready = std::max(action.ready, placeOf.at(op) + 1);
    } else if (other->second < number && !llvm::is_contained(action.needs, other->second)) {
      action.needs.push_back(other->second);
      action.ready = std::max(action.ready, late[other->second].ready);
    }
  };
  for (Value operand : usesOf(action.action))
    forEachProducer(operand, comesBefore);
  for (Value old : overwritten.lookup(action.action))
    forEachReader(old, comesBefore);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static int64_t bytesOf(Value value) {
  return typeOf(value).getNumElements() * elementBytes(typeOf(value).getElementType());
}

/// The actions that read a gradient, and those that read what these make of it if that takes
/// as much memory.  Empty if something else reads it, too.
UpdateGroup Updates::groupOf(Value gradient) const {
  UpdateGroup group;
  SmallVector<Value> left{gradient};
  while (!left.empty()) {
    Value value = left.pop_back_val();
    bool isOfUpdates = true;
    SmallVector<unsigned, 2> readers;
    forEachReader(value, [&](Operation *op) {
      auto number = op ? numberOf.find(op) : numberOf.end();
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

/// In the order in which they are ready.
void Updates::findGroups(bool alsoReduced) {
  llvm::SetVector<Value> gradients;
  for (const Late &action : late)
    for (Value operand : usesOf(action.action))
      forEachProducer(operand, [&](Operation *op) {
        // Numbers take no memory to speak of.
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
// Moving them
//===----------------------------------------------------------------------===//

/// Moves an op, and what it reads that is no action and stands behind the place.
static void moveWithReads(Operation *op, Operation *before) {
  for (Value operand : usesOf(op))
    if (Operation *source = operand.getDefiningOp(); source && !isAction(source) && before->isBeforeInBlock(source))
      moveWithReads(source, before);
  op->moveBefore(before);
}

/// Moves an action with all that it needs.
void Updates::runAction(unsigned number, unsigned place, SmallVectorImpl<unsigned> &moved) {
  if (late[number].place <= place)
    return;
  late[number].place = place;
  for (unsigned need : late[number].needs)
    runAction(need, place, moved);
  moved.push_back(number);
}

/// Runs the groups that wait, all or those that each take as long as a launch.
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
  // Behind the last action of backward they run anyway.
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

static LogicalResult runEarly(func::FuncOp program, const TargetInfo &target, bool alsoReduced) {
  FailureOr<int64_t> before = transientPeak(program, target);
  if (failed(before))
    return failure();
  SmallVector<Operation *> order;
  for (Operation &op : program.getBody().front())
    order.push_back(&op);
  if (!Updates(program, ComputeRates::of(target), alsoReduced).moveUp())
    return success();
  FailureOr<int64_t> after = transientPeak(program, target);
  if (failed(after))
    return failure();
  // What an update makes may be larger than what it reads.
  if (*after > *before)
    for (Operation *op : order)
      op->moveBefore(&program.getBody().front(), program.getBody().front().end());
  return success();
}

namespace {
struct EarlyUpdates final : braid::impl::EarlyUpdatesPassBase<EarlyUpdates> {
  using EarlyUpdatesPassBase::EarlyUpdatesPassBase;

  void runOnOperation() final {
    const TargetInfo *target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    for (auto program : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (program.getBody().hasOneBlock() && failed(runEarly(program, *target, reduced)))
        return signalPassFailure();
  }
};
} // namespace
