//===- ForwardFacts.cpp - facts of a model's ops --------------------------===//

#include "passes/FrontEnd/ForwardFacts.h"
#include "dialects/Interfaces/ShardingRule.h"
#include "passes/Base/Signature.h"

using namespace mlir;
using namespace braid;

namespace {
/// The last unit that a value depends on. `order` is 0 for inputs and constants, 1 for the root unit, then counts
/// units in the order in which activations reach them.
struct Made {
  unsigned order = 0;
  /// Whether it depends on parameters alone. Such a value can be anywhere, so it does not determine the order.
  bool ofParameters = false;
  StringAttr unit = {};
};

class UnitFinder {
public:
  DenseMap<Operation *, StringAttr> run(func::FuncOp function);

private:
  Made madeOf(Value value) const;
  Made makeOf(Operation &op);
  unsigned orderOf(StringAttr unit) {
    auto [order, isNew] = orders.try_emplace(unit, unit ? names.size() : 1);
    if (isNew && unit)
      names.push_back(unit);
    return order->second;
  }

  DenseMap<Value, Made> made;
  DenseMap<StringAttr, unsigned> orders;
  SmallVector<StringAttr> names{StringAttr(), StringAttr()};
};
} // namespace

Made UnitFinder::madeOf(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  tg::ParamAttr parameter = argument ? parameterOf(argument) : tg::ParamAttr();
  return parameter ? Made{0, true, parameter.getUnit()} : made.lookup(value);
}

/// Returns the first unit among the parameters of an op, else the last unit of its operands.
Made UnitFinder::makeOf(Operation &op) {
  SmallVector<Made> operands = llvm::map_to_vector(op.getOperands(), [&](Value value) { return madeOf(value); });
  if (llvm::all_of(operands, [](const Made &one) { return one.ofParameters; })) {
    auto named = llvm::find_if(operands, [](const Made &one) { return one.unit != nullptr; });
    return {0, true, named == operands.end() ? StringAttr() : named->unit};
  }
  unsigned latest = 0, first = 0;
  for (const Made &one : operands) {
    unsigned order = one.ofParameters ? orderOf(one.unit) : one.order;
    latest = std::max(latest, order);
    if (one.ofParameters && first <= 1)
      first = std::max(first, order);
  }
  return {first ? first : latest};
}

DenseMap<Operation *, StringAttr> UnitFinder::run(func::FuncOp function) {
  DenseMap<Operation *, StringAttr> units;
  for (Operation &op : function.front().without_terminator()) {
    if (op.getNumOperands() == 0)
      continue;
    Made own = makeOf(op);
    for (Value result : op.getResults())
      made[result] = own;
    units[&op] = own.ofParameters ? own.unit : names[own.order];
  }
  return units;
}

DenseMap<Operation *, StringAttr> braid::unitsOfOps(func::FuncOp function) { return UnitFinder().run(function); }

void braid::setFacts(Operation *op, tg::Phase phase, StringAttr unit) {
  op->setLoc(tg::withFacts(op->getLoc(), tg::getFacts(op->getContext(), phase, unit)));
}

static int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

/// Elementwise operands of a new statistic are marked as the statistic, so that they are reduced like it.
static void setStatistic(Value statistic, StringAttr name) {
  SetVector<Value> made;
  made.insert(statistic);
  for (unsigned next = 0; next < made.size(); ++next) {
    tg::setTensor(made[next], name, tg::TensorKind::RunningStatistic);
    Operation *op = made[next].getDefiningOp();
    std::optional<ShardingRule> rule = op ? shardingRuleOf(op) : std::nullopt;
    for (Value operand : rule && rule->flat ? op->getOperands() : ValueRange())
      if (elementsOf(operand) == elementsOf(statistic))
        made.insert(operand);
  }
}

/// Returns the ops that the loss and logits do not depend on, if the function updates its parameters itself; otherwise
/// none.
static DenseSet<Operation *> opsOfUpdates(func::FuncOp function) {
  tg::ProgramSignature signature(function);
  if (!signature.updatesParameters())
    return {};
  DenseSet<Operation *> ops, forLoss;
  for (Operation &op : llvm::reverse(function.front().without_terminator())) {
    bool isForLoss = llvm::any_of(op.getUses(), [&](OpOperand &use) {
      return use.getOwner() == returnOf(function) ? signature.result(use.getOperandNumber()).role != nullptr
                                                  : forLoss.contains(use.getOwner());
    });
    (isForLoss ? forLoss : ops).insert(&op);
  }
  return ops;
}

void braid::setForwardFacts(func::FuncOp function) {
  DenseSet<Operation *> updating = opsOfUpdates(function);
  for (auto [op, unit] : unitsOfOps(function))
    setFacts(op, updating.contains(op) ? tg::Phase::Update : tg::Phase::Forward, unit);
  setFactsOfUpdates(function);
}

void braid::setFactsOfUpdates(func::FuncOp function) {
  tg::ProgramSignature signature(function);
  for (OpOperand &returned : returnOf(function)->getOpOperands()) {
    BlockArgument owner = signature.updatedArgument(returned.getOperandNumber());
    tg::StateAttr state = stateOf(owner);
    if (state && state.getKind() == tg::TensorKind::RunningStatistic)
      setStatistic(returned.get(), state.getName());
    else if (state && state.getOf())
      tg::setTensor(returned.get(), state.getOf(), state.getKind());
    else if (tg::ParamAttr parameter = parameterOf(owner))
      tg::setTensor(returned.get(), parameter.getOf(), parameter.getKind());
  }
}
