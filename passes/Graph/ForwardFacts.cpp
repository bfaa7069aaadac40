//===- ForwardFacts.cpp - the facts of a model's ops ----------------------===//

#include "passes/Graph/ForwardFacts.h"
#include "dialects/Interfaces/ShardingRule.h"
#include "passes/Graph/Signature.h"

using namespace mlir;
using namespace braid;

namespace {
/// How far a value has come: 0 for inputs and constants, 1 for the root unit, then the units
/// in the order of their first uses.
struct Made {
  unsigned order = 0;
  bool ofParameters = false; ///< Alone.
};
} // namespace

DenseMap<Operation *, StringAttr> braid::unitsOfOps(func::FuncOp function) {
  DenseMap<Value, Made> made;
  DenseMap<StringAttr, unsigned> orders;
  SmallVector<StringAttr> names{StringAttr(), StringAttr()};
  DenseMap<Operation *, StringAttr> units;
  auto orderOf = [&](StringAttr unit) {
    auto [order, isNew] = orders.try_emplace(unit, unit ? names.size() : 1);
    if (isNew && unit)
      names.push_back(unit);
    return order->second;
  };
  for (Operation &op : function.front().without_terminator()) {
    if (op.getNumOperands() == 0)
      continue;
    Made latest, first;
    bool isOfParameters = true;
    for (Value operand : op.getOperands()) {
      Made one = made.lookup(operand);
      if (auto argument = dyn_cast<BlockArgument>(operand))
        if (tg::ParamAttr parameter = parameterOf(argument))
          one = {orderOf(parameter.getUnit()), true};
      isOfParameters &= one.ofParameters;
      latest.order = std::max(latest.order, one.order);
      if (one.ofParameters && first.order <= 1)
        first.order = std::max(first.order, one.order);
    }
    Made own{first.order ? first.order : latest.order, isOfParameters};
    for (Value result : op.getResults())
      made[result] = own;
    units[&op] = names[own.order];
  }
  return units;
}

void braid::setFacts(Operation *op, tg::Phase phase, StringAttr unit) {
  op->setLoc(tg::withFacts(op->getLoc(), tg::getFacts(op->getContext(), phase, unit)));
}

static int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

/// What goes into a new statistic element by element is reduced as the statistic is.
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

void braid::setForwardFacts(func::FuncOp function) {
  for (auto [op, unit] : unitsOfOps(function))
    setFacts(op, tg::Phase::Forward, unit);
  setFactsOfUpdates(function);
}

void braid::setFactsOfUpdates(func::FuncOp function) {
  DenseMap<Attribute, BlockArgument> owners;
  for (BlockArgument argument : function.getArguments())
    if (StringAttr name = tg::nameOf(function.getArgAttrDict(argument.getArgNumber())))
      owners[name] = argument;
  for (OpOperand &returned : returnOf(function)->getOpOperands()) {
    Attribute updates = function.getResultAttr(returned.getOperandNumber(), tg::kUpdates);
    BlockArgument owner = updates ? owners.lookup(updates) : BlockArgument();
    tg::StateAttr state = owner ? stateOf(owner) : tg::StateAttr();
    if (state && state.getKind() == tg::TensorKind::RunningStatistic)
      setStatistic(returned.get(), state.getName());
    else if (state && state.getOf())
      tg::setTensor(returned.get(), state.getOf(), state.getKind());
    else if (tg::ParamAttr parameter = owner ? parameterOf(owner) : tg::ParamAttr())
      tg::setTensor(returned.get(), parameter.getOf(), parameter.getKind());
  }
}
