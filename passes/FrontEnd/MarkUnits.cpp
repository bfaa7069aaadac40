//===- MarkUnits.cpp - hooks where values cross unit borders --------------===//
//
// Passes.td defines which ops form a unit. Every op belongs to at most one unit.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"
#include "passes/Base/Signature.h"
#define GEN_PASS_DEF_MARKUNITSPASS
#include "passes/FrontEnd/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

namespace {
class Units {
public:
  explicit Units(func::FuncOp function) : function(function) {
    for (Operation &op : function.front().without_terminator())
      ops.push_back(&op);
    findActivations();
    findReaders();
    for (StringAttr unit : names)
      addPathsWithin(unit);
    addTails();
  }

  void insertHooks();

private:
  void findActivations();
  void findReaders();
  void addPathsWithin(StringAttr unit);
  void addTails();
  SmallVector<Value> unitOutputs(StringAttr unit) const;
  SmallVector<Value> unitInputs(StringAttr unit) const;

  /// Returns null for a null op, the terminator and an op without a unit.
  StringAttr unitOf(Operation *op) const { return op ? units.lookup(op) : StringAttr(); }
  bool isFloatActivation(Value value) const { return activations.contains(value) && isFloat(value); }

  func::FuncOp function;
  SmallVector<Operation *> ops;
  /// Values computed from inputs, as opposed to parameters and constants.
  llvm::DenseSet<Value> activations;
  llvm::DenseMap<Operation *, StringAttr> units;
  /// Units in the order of their parameters.
  llvm::SetVector<StringAttr> names;
};

void Units::findActivations() {
  for (BlockArgument argument : function.getArguments())
    if (!parameterOf(argument))
      activations.insert(argument);
  for (Operation *op : ops)
    if (llvm::any_of(op->getOperands(), [&](Value operand) { return activations.contains(operand); }))
      activations.insert(op->result_begin(), op->result_end());
}

/// Assigns ops to the unit of the parameters that they read, directly or through values that depend only on parameters
/// of one unit.
void Units::findReaders() {
  llvm::DenseMap<Value, StringAttr> weights;
  for (BlockArgument argument : function.getArguments())
    if (ParamAttr param = parameterOf(argument); param && param.getUnit()) {
      weights[argument] = param.getUnit();
      names.insert(param.getUnit());
    }
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (StringAttr unit = weights.lookup(operand)) {
        units.try_emplace(op, unit);
        for (Value result : op->getResults())
          if (!activations.contains(result))
            weights[result] = unit;
      }
}

/// Adds the ops on a path between two ops of the unit that avoids other units. Ops that depend on a later unit are
/// excluded, even if this unit is used again: with tied embeddings, all residual sums lie between the two uses.
void Units::addPathsWithin(StringAttr unit) {
  llvm::DenseSet<Operation *> reached, left, after, before;
  auto isOpen = [&](Operation *op) { return op && (!unitOf(op) || unitOf(op) == unit); };
  for (Operation *op : ops) {
    auto isAnyIn = [&](const llvm::DenseSet<Operation *> &set) {
      return llvm::any_of(op->getOperands(), [&](Value operand) {
        return activations.contains(operand) && set.contains(operand.getDefiningOp());
      });
    };
    bool isOfUnit = unitOf(op) == unit;
    if (isOfUnit || isAnyIn(reached))
      reached.insert(op);
    if (!isOfUnit && (isAnyIn(left) || (!isOpen(op) && reached.contains(op))))
      left.insert(op);
    if (isOfUnit || (isOpen(op) && !left.contains(op) && isAnyIn(after)))
      after.insert(op);
  }
  for (Operation *op : llvm::reverse(ops))
    if (unitOf(op) == unit ||
        (isOpen(op) && llvm::any_of(op->getUsers(), [&](Operation *user) { return before.contains(user); })))
      before.insert(op);
  for (Operation *op : ops)
    if (after.contains(op) && before.contains(op))
      units.try_emplace(op, unit);
}

/// Adds the ops behind the unit's last reader, up to the last one that joins two of its values, as in a residual sum.
/// A chain without such an op (later uses of the unit's result) does not belong to the unit.
void Units::addTails() {
  llvm::DenseMap<Operation *, StringAttr> candidates;
  SmallVector<Operation *> tail;
  auto sourceOf = [&](Value value) {
    Operation *op = value.getDefiningOp();
    StringAttr unit = unitOf(op);
    return unit ? unit : candidates.lookup(op);
  };
  auto isJoin = [&](Operation *op) {
    return llvm::DenseSet<Value>(op->operand_begin(), op->operand_end()).size() > 1 &&
           llvm::count_if(op->getOperands(), [&](Value operand) { return isFloatActivation(operand); }) > 1;
  };
  for (Operation *op : ops) {
    if (unitOf(op))
      continue;
    llvm::SmallSetVector<StringAttr, 2> sources;
    for (Value operand : op->getOperands())
      if (isFloatActivation(operand))
        sources.insert(sourceOf(operand));
    if (sources.size() == 1 && sources[0]) {
      candidates[op] = sources[0];
      tail.push_back(op);
    }
  }
  for (Operation *op : llvm::reverse(tail)) {
    StringAttr unit = candidates.lookup(op);
    bool leadsToJoin = llvm::any_of(
        op->getUsers(), [&](Operation *user) { return candidates.lookup(user) == unit && unitOf(user) == unit; });
    if (isJoin(op) || leadsToJoin)
      units[op] = unit;
  }
}

SmallVector<Value> Units::unitOutputs(StringAttr unit) const {
  SmallVector<Value> values;
  for (Operation *op : ops)
    if (unitOf(op) == unit)
      for (Value result : op->getResults())
        if (isFloatActivation(result) &&
            llvm::any_of(result.getUsers(), [&](Operation *user) { return unitOf(user) != unit; }))
          values.push_back(result);
  return values;
}

SmallVector<Value> Units::unitInputs(StringAttr unit) const {
  llvm::SetVector<Value> values;
  for (Operation *op : ops)
    if (unitOf(op) == unit)
      for (Value operand : op->getOperands())
        if (isFloatActivation(operand) && unitOf(operand.getDefiningOp()) != unit)
          values.insert(operand);
  return values.takeVector();
}

/// All crossings are found before hooks change the operands.
void Units::insertHooks() {
  struct Crossing {
    Value value;
    StringAttr unit;
    bool isExit;
    int64_t order;
  };
  SmallVector<Crossing> crossings;
  for (StringAttr unit : names) {
    for (auto [order, value] : llvm::enumerate(unitOutputs(unit)))
      crossings.push_back({value, unit, /*isExit=*/true, static_cast<int64_t>(order)});
    for (auto [order, value] : llvm::enumerate(unitInputs(unit)))
      crossings.push_back({value, unit, /*isExit=*/false, static_cast<int64_t>(order)});
  }
  // Exits come first, so that the next unit's input is the result of a hook.
  llvm::stable_sort(crossings, [](const Crossing &a, const Crossing &b) { return a.isExit > b.isExit; });
  llvm::DenseMap<Value, Value> left;
  OpBuilder builder(function.getContext());
  for (const Crossing &crossing : crossings) {
    Value value = crossing.value;
    if (!crossing.isExit && left.contains(value))
      value = left[value];
    auto isInside = [&](OpOperand &use) { return unitOf(use.getOwner()) == crossing.unit; };
    if (crossing.isExit)
      builder.setInsertionPointAfterValue(value);
    else
      for (Operation *op : ops)
        if (unitOf(op) == crossing.unit && llvm::is_contained(op->getOperands(), value)) {
          builder.setInsertionPoint(op);
          break;
        }
    std::string name = (crossing.unit.getValue() + (crossing.isExit ? ".exit" : ".enter")).str();
    auto hook = builder.create<HookOp>(value.getLoc(), value, builder.getStringAttr(name),
                                       builder.getI64IntegerAttr(crossing.order));
    value.replaceUsesWithIf(hook,
                            [&](OpOperand &use) { return use.getOwner() != hook && isInside(use) != crossing.isExit; });
    if (crossing.isExit)
      left[crossing.value] = hook;
  }
}

struct MarkUnits : braid::impl::MarkUnitsPassBase<MarkUnits> {
  void runOnOperation() final {
    if (!getOperation().isExternal() && getOperation().getBody().hasOneBlock())
      Units(getOperation()).insertHooks();
  }
};
} // namespace
