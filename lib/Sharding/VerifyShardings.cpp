//===- VerifyShardings.cpp - ops and shardings fit their rules ------------===//

#include "lib/Sharding/VerifyShardings.h"
#include "lib/Sharding/FactorAxes.h"
#include "lib/Sharding/GlobalFunction.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
class Checker {
public:
  Checker(FlatSymbolRefAttr symbol, const Mesh &mesh) : symbol(symbol), mesh(mesh) {}

  LogicalResult check(Operation *op);

private:
  LogicalResult checkReshard(ReshardOp op);
  LogicalResult checkReturn(Operation *op);
  LogicalResult checkWhole(Operation *op);
  LogicalResult checkOp(Operation *op, const ShardingRule &rule);
  LogicalResult checkAxes(Operation *op, const FactorAxes &axes, ShardingAttr passed);
  LogicalResult checkResults(Operation *op, const ShardingRule &rule, const FactorAxes &axes, ShardingAttr partial);
  FailureOr<ShardingAttr> checkPartials(Operation *op, const ShardingRule &rule);
  ShardingAttr partialOfZero(Operation *op);

  ShardingAttr of(Value value) const {
    ShardingAttr sharding = shardingOf(value);
    return sharding ? withoutUnitAxes(sharding.canonical(), mesh) : sharding;
  }
  SmallVector<ShardingAttr> of(ValueRange values) const {
    return llvm::map_to_vector(values, [&](Value value) { return of(value); });
  }

  FlatSymbolRefAttr symbol;
  const Mesh &mesh;
};
} // namespace

/// Returns whether two shardings are equal, up to the order of the axes of partial values.
static bool areSame(ShardingAttr a, ShardingAttr b) {
  auto none = AxesAttr::get(a.getContext());
  auto isIn = [](AxesAttr x, AxesAttr y) {
    return llvm::all_of(x.getNames(), [&](StringAttr name) { return y.contains(name); });
  };
  return a.withPartial(none) == b.withPartial(none) && a.getReduction() == b.getReduction() &&
         isIn(a.getPartial(), b.getPartial()) && isIn(b.getPartial(), a.getPartial());
}

//===----------------------------------------------------------------------===//
// Reshards, returns and ops without a rule
//===----------------------------------------------------------------------===//

LogicalResult Checker::checkReshard(ReshardOp op) {
  ShardingAttr source = of(op.getInput()), target = of(op.getResult());
  if (!target.isPartial())
    return success();
  for (StringAttr axis : target.getPartial().getNames())
    if (!source.getPartial().contains(axis) || source.getReduction() != target.getReduction())
      return op.emitOpError() << "makes partial values of whole ones: its operand is " << source << ", its result "
                              << target << "; a value never becomes partial";
  return success();
}

LogicalResult Checker::checkReturn(Operation *op) {
  auto function = cast<func::FuncOp>(op->getParentOp());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    unsigned index = operand.getOperandNumber();
    ShardingAttr stated = withoutUnitAxes(comm::shardingOfResult(function, index, symbol), mesh).canonical();
    ShardingAttr actual = of(operand.get());
    if (!actual && operand.get().getDefiningOp())
      continue; // reported at that op
    if (!actual)
      return op->emitOpError() << "returns a value without a sharding as " << nameOfResult(function, index)
                               << "; run comm-propagate first";
    if (!areSame(actual, stated))
      return op->emitOpError() << "returns " << nameOfResult(function, index) << " as " << actual
                               << ", but the function declares " << stated
                               << "; comm-insert-reshards puts a comm.reshard between";
  }
  return success();
}

LogicalResult Checker::checkWhole(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (ShardingAttr sharding = of(operand.get()); sharding && !sharding.isReplicated())
      return op->emitOpError() << "has no sharding rule, but its operand #" << operand.getOperandNumber() << " is "
                               << sharding << "; reshard it to a replicated value first";
  for (OpResult result : op->getResults())
    if (ShardingAttr sharding = of(result); sharding && !sharding.isReplicated())
      return op->emitOpError() << "has no sharding rule, but its result #" << result.getResultNumber() << " is "
                               << sharding << "; it yields replicated values";
  return success();
}

//===----------------------------------------------------------------------===//
// Ops with a rule
//===----------------------------------------------------------------------===//

/// Returns the axes along which a zero is declared to be a partial sum or mean.
ShardingAttr Checker::partialOfZero(Operation *op) {
  ShardingAttr stated = of(op->getResult(0)), none = ShardingAttr::replicated(symbol, 0);
  return isAdditive(stated.getReduction()) ? none.withPartial(stated.getPartial(), stated.getReduction()) : none;
}

/// Returns the partial values that pass through a linear op, as a sharding that is
/// partial along their axes. Not partial if no operand is.
FailureOr<ShardingAttr> Checker::checkPartials(Operation *op, const ShardingRule &rule) {
  SmallVector<unsigned> partial;
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (of(operand).isPartial())
      partial.push_back(index);
  if (partial.empty())
    return rule.isZero() ? partialOfZero(op) : ShardingAttr::replicated(symbol, 0);
  ShardingAttr first = of(op->getOperand(partial.front()));
  auto none = ShardingAttr::replicated(symbol, 0);
  ShardingAttr passed = none.withPartial(first.getPartial(), first.getReduction());
  bool agree = llvm::all_of(partial, [&](unsigned index) {
    ShardingAttr other = of(op->getOperand(index));
    return areSame(passed, none.withPartial(other.getPartial(), other.getReduction()));
  });
  bool isLinear = isAdditive(first.getReduction()) && agree && llvm::any_of(rule.linear, [&](ArrayRef<unsigned> set) {
                    SmallVector<unsigned> sorted(set);
                    llvm::sort(sorted);
                    return ArrayRef(sorted) == ArrayRef(partial);
                  });
  if (isLinear)
    return passed;
  InFlightDiagnostic diagnostic = op->emitOpError()
                                  << "has a partial value used as if reduced: operand #" << partial.front()
                                  << " is partial " << stringifyReduction(first.getReduction()) << " over "
                                  << first.getPartial().str() << ", and the op is not linear in it"
                                  << (agree && partial.size() == 1 ? "" : " and the other partial operands together")
                                  << "; reduce it first by a comm.reshard";
  diagnostic.attachNote(op->getOperand(partial.front()).getLoc()) << "the partial value is made here";
  return diagnostic;
}

LogicalResult Checker::checkResults(Operation *op, const ShardingRule &rule, const FactorAxes &axes,
                                    ShardingAttr passed) {
  for (auto [index, tensor] : llvm::enumerate(rule.results)) {
    std::optional<ShardingAttr> yields = shardingOfTensor(rule, tensor, axes, /*isResult=*/true, symbol, mesh);
    bool isMixed =
        yields && yields->isPartial() && passed.isPartial() && yields->getReduction() != passed.getReduction();
    if (!yields || isMixed)
      return op->emitOpError() << "yields partial values in result #" << index << " that need two different reductions";
    if (passed.isPartial())
      yields = yields->withPartial(inMeshOrder(yields->getPartial(), passed.getPartial(), mesh), passed.getReduction());
    ShardingAttr stated = of(op->getResult(index));
    if (!areSame(*yields, stated))
      return op->emitOpError() << "yields result #" << index << " as " << *yields << ", but 'comm.shardings' says "
                               << stated;
  }
  return success();
}

/// Checks that an axis shards only one factor. If it sharded two factors that the op iterates over
/// separately, each rank would combine only parts with equal numbers.
LogicalResult Checker::checkAxes(Operation *op, const FactorAxes &axes, ShardingAttr passed) {
  llvm::DenseSet<StringAttr> seen;
  SmallVector<AxesAttr> lists(axes.factors);
  lists.push_back(axes.flat);
  for (AxesAttr list : lists)
    for (StringAttr axis : list.getNames()) {
      if (passed.getPartial().contains(axis))
        return op->emitOpError() << "is sharded over '" << axis.getValue()
                                 << "', along which an operand is partial; reduce it first by a comm.reshard";
      if (!seen.insert(axis).second)
        return op->emitOpError() << "has two different dims sharded over '" << axis.getValue()
                                 << "'; reshard one of the operands first";
    }
  return success();
}

LogicalResult Checker::checkOp(Operation *op, const ShardingRule &rule) {
  FailureOr<ShardingAttr> passed = checkPartials(op, rule);
  if (failed(passed))
    return failure();
  std::string why;
  std::optional<FactorAxes> axes = factorAxesOf(rule, of(op->getOperands()), of(op->getResults()), mesh, &why);
  if (!axes)
    return op->emitOpError() << "does not fit its rule " << rule.str() << ": " << why;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    ShardingAttr whole = of(operand).withPartial(AxesAttr::get(op->getContext()));
    auto needs = shardingOfTensor(rule, rule.operands[index], *axes, /*isResult=*/false, symbol, mesh);
    if (needs && *needs != whole)
      return op->emitOpError() << "reads operand #" << index << " as " << *needs << ", but it is " << whole
                               << "; comm-insert-reshards puts a comm.reshard between";
  }
  if (failed(checkAxes(op, *axes, *passed)))
    return failure();
  return checkResults(op, rule, *axes, *passed);
}

LogicalResult Checker::check(Operation *op) {
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return checkReshard(reshard);
  if (op->hasTrait<OpTrait::IsTerminator>())
    return checkReturn(op);
  if (requestOf(op))
    return op->emitOpError() << "remains; run comm-insert-reshards, which turns it into a comm.reshard";
  for (Value result : op->getResults())
    if (isa<RankedTensorType>(result.getType()) && !shardingOf(result))
      return op->emitOpError() << "has no 'comm.shardings', but other ops of the function have; run comm-propagate "
                                  "and comm-insert-reshards on all of it";
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !shardingOf(operand))
      return op->emitOpError() << "reads a value without a sharding; run comm-propagate first";
  auto isTensor = llvm::IsaPred<RankedTensorType>;
  bool isOnTensors = llvm::all_of(op->getOperandTypes(), isTensor) && llvm::all_of(op->getResultTypes(), isTensor);
  std::optional<ShardingRule> rule = isOnTensors ? shardingRuleOf(op) : std::nullopt;
  return rule ? checkOp(op, *rule) : checkWhole(op);
}

LogicalResult braid::verifyShardings(func::FuncOp function, FlatSymbolRefAttr symbol, const Mesh &mesh) {
  Checker checker(symbol, mesh);
  bool isOk = true;
  for (Operation &op : function.getBody().front())
    isOk &= succeeded(checker.check(&op));
  return success(isOk);
}
