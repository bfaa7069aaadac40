//===- InsertReshards.cpp - make changes of sharding explicit ops ---------===//
//
// Propagation has assigned a sharding to each value. The factor axes of an op determine the shardings of its operands
// and results. If they differ from the assigned ones, a reshard is inserted. An op whose tensors have conflicting
// shardings has its factor axes in `comm.factors`.
//
// Partial values stay partial through ops that are linear in them: see `passPartials`.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Facts.h"
#include "lib/Schedule/Forward.h"
#include "lib/Sharding/AxisLists.h"
#include "lib/Sharding/GlobalFunction.h"
#include "lib/Sharding/OpShardings.h"
#include "passes/Base/Signature.h"
#define GEN_PASS_DEF_INSERTRESHARDSPASS
#include "passes/Sharding/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
class Inserter {
public:
  Inserter(func::FuncOp function, FlatSymbolRefAttr symbol, const Mesh &mesh)
      : function(function), symbol(symbol), mesh(mesh), builder(function) {}

  LogicalResult run();

private:
  LogicalResult visit(Operation *op);
  LogicalResult visitRequest(Operation *op, ShardingAttr request);
  LogicalResult visitReturn(Operation *op);

  FailureOr<FactorAxes> axesOf(Operation *op, const ShardingRule &rule) const;
  OpShardings replicated(Operation *op) const;

  bool addsToPartial(Operation *op) const;
  void findAskedPartial();
  bool isOnlyUse(Value value, Operation *op) const;
  std::optional<ShardingAttr> commonPartial(Operation *op, ArrayRef<unsigned> set) const;
  std::optional<OpShardings> passPartials(Operation *op, const ShardingRule &rule, const FactorAxes &axes) const;
  std::optional<OpShardings> passPartials(Operation *op, const ShardingRule &rule, const FactorAxes &axes,
                                          ArrayRef<unsigned> set) const;

  /// Returns the value in the sharding `target`, or null after an error at `user`.
  Value get(Value value, ShardingAttr target, Operation *user);
  Value getAssigned(Value value, Operation *user);
  Value cloneGenerator(Value value, ShardingAttr target);
  Value reshard(Value value, ShardingAttr target, Operation *user);

  ShardingAttr assignedOf(Value value) const { return assigned.lookup(value); }
  ShardingAttr actualOf(Value value) const { return actual.lookup(value); }

  func::FuncOp function;
  FlatSymbolRefAttr symbol;
  const Mesh &mesh;
  OpBuilder builder;
  DenseMap<Value, ShardingAttr> assigned, actual;
  /// The copies of a value in other shardings.
  DenseMap<std::pair<Value, Attribute>, Value> copies;
  SetVector<Operation *> cloned; ///< Generators that were cloned.
  /// Values all of whose readers request partial values.
  DenseSet<Value> askedPartial;
};

struct InsertReshards : braid::impl::InsertReshardsPassBase<InsertReshards> {
  void runOnOperation() final {
    func::FuncOp function = getOperation();
    FailureOr<std::optional<GlobalMesh>> global = meshOfGlobal(function);
    if (succeeded(global) && !*global)
      return markAllAnalysesPreserved();
    if (failed(global) || failed(Inserter(function, (*global)->symbol, (*global)->mesh).run()))
      signalPassFailure();
  }
};
} // namespace

static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

//===----------------------------------------------------------------------===//
// Factor axes
//===----------------------------------------------------------------------===//

FailureOr<FactorAxes> Inserter::axesOf(Operation *op, const ShardingRule &rule) const {
  auto stated = op->getAttrOfType<ShardingAttr>(CommDialect::kFactors);
  if (!stated)
    return chooseAxes(op, rule, assigned, mesh);
  if (stated.getDims().size() != rule.factors.size())
    return op->emitOpError() << "'comm.factors' has " << stated.getDims().size() << " factors, but the op's rule "
                             << rule.str() << " has " << rule.factors.size();
  FactorAxes axes;
  axes.factors.append(stated.getDims().begin(), stated.getDims().end());
  axes.flat = stated.getFlat();
  return axes;
}

OpShardings Inserter::replicated(Operation *op) const {
  OpShardings found;
  for (Value operand : op->getOperands())
    found.operands.push_back(
        isa<RankedTensorType>(operand.getType()) ? ShardingAttr::replicated(symbol, rankOf(operand)) : ShardingAttr());
  for (Value result : op->getResults())
    found.results.push_back(isa<RankedTensorType>(result.getType()) ? ShardingAttr::replicated(symbol, rankOf(result))
                                                                    : ShardingAttr());
  return found;
}

//===----------------------------------------------------------------------===//
// Partial values through linear ops
//===----------------------------------------------------------------------===//

/// Whether one of several operands is an accumulator of gradients that is partial from the start. It is reduced
/// together with its addends, or else by itself.
bool Inserter::addsToPartial(Operation *op) const {
  auto isAccumulator = [&](Value operand) {
    return isa<BlockArgument>(operand) && assignedOf(operand) && assignedOf(operand).isPartial() &&
           isOnlyUse(operand, op);
  };
  return op->getNumOperands() > 1 && llvm::any_of(op->getOperands(), isAccumulator);
}

/// Walks back through linear ops from results that must be partial, and from operands that are added to partial
/// values. A value with several readers, such as the gradient of merged weights, is requested as partial if all its
/// readers request that.
void Inserter::findAskedPartial() {
  Block &block = function.getBody().front();
  DenseSet<std::pair<Value, Operation *>> asks;
  auto isAskedByAll = [&](Value value) {
    return !value.use_empty() &&
           llvm::all_of(value.getUsers(), [&](Operation *user) { return asks.contains({value, user}); });
  };
  Operation *terminator = block.getTerminator();
  for (OpOperand &operand : terminator->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()) &&
        comm::shardingOfResult(function, operand.getOperandNumber(), symbol).isPartial())
      asks.insert({operand.get(), terminator});
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    for (Value result : op.getResults())
      if (isAskedByAll(result))
        askedPartial.insert(result);
    bool isAsked = llvm::any_of(op.getResults(), [&](Value result) { return askedPartial.contains(result); });
    if (!isAsked && !addsToPartial(&op))
      continue;
    if (std::optional<ShardingRule> rule = shardingRuleOf(&op))
      for (ArrayRef<unsigned> set : rule->linear)
        for (unsigned index : set)
          asks.insert({op.getOperand(index), &op});
  }
}

bool Inserter::isOnlyUse(Value value, Operation *op) const {
  return llvm::all_of(value.getUsers(), [&](Operation *user) { return user == op; });
}

/// Returns the axes along which all operands of a set are partial. Returns nothing if another reader needs them
/// reduced, because one reduction for all readers then costs as little.
std::optional<ShardingAttr> Inserter::commonPartial(Operation *op, ArrayRef<unsigned> set) const {
  ShardingAttr common;
  for (unsigned index : set) {
    Value operand = op->getOperand(index);
    ShardingAttr sharding = actualOf(operand);
    AxesAttr partial = common ? intersectionOf(common.getPartial(), sharding.getPartial()) : sharding.getPartial();
    if (partial.empty() || !isAdditive(sharding.getReduction()) ||
        !(isOnlyUse(operand, op) || askedPartial.contains(operand)) ||
        (common && common.getReduction() != sharding.getReduction()))
      return std::nullopt;
    common = ShardingAttr::replicated(symbol, 0).withPartial(partial, sharding.getReduction());
  }
  // An operand outside the set may be the same value as one inside: x * x.
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (!llvm::is_contained(set, index) &&
        llvm::any_of(set, [&, value = operand](unsigned member) { return op->getOperand(member) == value; }))
      return std::nullopt;
  return common;
}

static int64_t bitsOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * type.getElementTypeBitWidth();
}

/// Whether a partial value becomes the needed one by a reduce_scatter: it stays partial along fewer axes, and is
/// sharded along axes that it was partial on. An op that is sharded there needs this anyway.
static bool isReducedTo(ShardingAttr source, ShardingAttr need) {
  auto isRefined = [&](AxesAttr from, AxesAttr to) {
    return to.getNames().take_front(from.size()) == from.getNames() &&
           isSubset(sliceAxes(to, from.size()), source.getPartial());
  };
  return isSubset(need.getPartial(), source.getPartial()) && isRefined(source.getFlat(), need.getFlat()) &&
         llvm::all_of(llvm::zip_equal(source.getDims(), need.getDims()), [&](auto dims) {
           auto [from, to] = dims;
           return isRefined(from, to);
         });
}

/// Returns how to run the op on partial values of a linear set. That saves a reduction if the set has several values,
/// and moves the reduction to an equal or smaller value if it has one. If partial values are requested, no reduction
/// is needed.
std::optional<OpShardings> Inserter::passPartials(Operation *op, const ShardingRule &rule, const FactorAxes &axes,
                                                  ArrayRef<unsigned> set) const {
  std::optional<ShardingAttr> common = commonPartial(op, set);
  if (!common)
    return std::nullopt;
  int64_t largest = 0;
  for (unsigned index : set)
    largest = std::max(largest, bitsOf(op->getOperand(index)));
  if (llvm::any_of(op->getResults(),
                   [&](Value result) { return bitsOf(result) > largest && !askedPartial.contains(result); }))
    return std::nullopt;
  // Several values are added before they are sharded along the axes on which they are partial.
  auto free = [&](AxesAttr list) {
    auto isFree = [&](StringAttr name) { return !common->getPartial().contains(name); };
    return AxesAttr::get(op->getContext(), llvm::to_vector(list.getNames().take_while(isFree)));
  };
  FactorAxes freed = axes;
  llvm::transform(axes.factors, freed.factors.begin(), free);
  freed.flat = free(axes.flat);
  if (set.size() == 1 && !(freed == axes))
    return std::nullopt;
  std::optional<OpShardings> found = opShardingsOf(rule, freed, symbol, mesh);
  if (!found)
    return std::nullopt;
  bool isAsked = llvm::all_of(op->getResults(), [&](Value result) { return askedPartial.contains(result); });
  for (unsigned index : set) {
    ShardingAttr &need = found->operands[index];
    need = need.withPartial(common->getPartial(), common->getReduction());
    // If partial values are requested, no other fit will do: they are moved as they are.
    ShardingAttr source = actualOf(op->getOperand(index));
    if (!isReducedTo(source, need) && !(isAsked && isSubset(need.getPartial(), source.getPartial())))
      return std::nullopt;
  }
  for (ShardingAttr &yields : found->results) {
    if (yields.isPartial() && yields.getReduction() != common->getReduction())
      return std::nullopt;
    yields = yields.withPartial(inMeshOrder(yields.getPartial(), common->getPartial(), mesh), common->getReduction());
  }
  return found;
}

std::optional<OpShardings> Inserter::passPartials(Operation *op, const ShardingRule &rule,
                                                  const FactorAxes &axes) const {
  for (ArrayRef<unsigned> set : rule.linear) {
    std::optional<OpShardings> found = set.empty() ? std::nullopt : passPartials(op, rule, axes, set);
    if (found)
      return found;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Values in other shardings
//===----------------------------------------------------------------------===//

/// Returns the location of a reshard, which belongs to the op that defines the value. A reshard of an argument belongs
/// to its first reader or, if it serves a return, to the update.
static Location locationFor(Value value, Operation *user) {
  Location loc = tg::locationOf(value);
  auto argument = dyn_cast<BlockArgument>(value);
  bool isReturned = user->hasTrait<OpTrait::IsTerminator>();
  tg::FactsAttr facts = tg::factsOf(user);
  if (tg::factsOf(loc) || !argument || (!facts && !isReturned))
    return loc;
  tg::StateAttr state = stateOf(argument);
  bool isTrained = isTraining(user->getParentOfType<func::FuncOp>()) && !(state && state.isOfLoss());
  tg::Phase phase = facts ? facts.getPhase() : isTrained ? tg::Phase::Update : tg::Phase::Forward;
  tg::ParamAttr parameter = parameterOf(argument);
  return tg::withFacts(loc, parameter ? factsOfParameter(parameter, phase)
                                      : tg::getFacts(loc.getContext(), phase, tg::unitOf(facts)));
}

Value Inserter::reshard(Value value, ShardingAttr target, Operation *user) {
  ShardingAttr source = actualOf(value);
  bool canBePartial = !target.isPartial() || (target.getReduction() == source.getReduction() &&
                                              isSubset(target.getPartial(), source.getPartial()));
  if (!canBePartial) {
    InFlightDiagnostic diagnostic = user->emitOpError()
                                    << "requests the partial sharding " << target << ", but the value is " << source
                                    << "; a whole value never becomes partial, so drop 'partial'";
    diagnostic.attachNote(value.getLoc()) << "the value is made here";
    return {};
  }
  auto op = builder.create<ReshardOp>(locationFor(value, user), value, target);
  actual[op] = assigned[op] = target;
  return op;
}

Value Inserter::getAssigned(Value value, Operation *user) {
  ShardingAttr sharding = assignedOf(value);
  if (actualOf(value) == sharding)
    return value;
  Value &copy = copies[{value, sharding}];
  if (!copy) {
    builder.setInsertionPointAfterValue(value);
    copy = reshard(value, sharding, user);
  }
  return copy;
}

Value Inserter::cloneGenerator(Value value, ShardingAttr target) {
  Operation *op = value.getDefiningOp();
  std::optional<ShardingRule> rule = shardingRuleOf(op);
  if (!rule || (target.isPartial() && !(rule->isZero() && isAdditive(target.getReduction()))) ||
      !factorAxesOf(*rule, {}, target.withPartial(AxesAttr::get(target.getContext())), mesh))
    return {};
  cloned.insert(op);
  builder.setInsertionPointAfter(op);
  Operation *clone = builder.clone(*op);
  clone->setAttr(CommDialect::kShardings, builder.getArrayAttr(target));
  Value result = clone->getResult(0);
  actual[result] = assigned[result] = target;
  return result;
}

Value Inserter::get(Value value, ShardingAttr target, Operation *user) {
  if (!target || actualOf(value) == target)
    return value;
  if (Value copy = copies.lookup({value, target}))
    return copy;
  Value copy;
  if (isGenerator(value.getDefiningOp()))
    copy = cloneGenerator(value, target);
  if (!copy && assignedOf(value) == target)
    return getAssigned(value, user);
  if (!copy) {
    // A partial value comes from the value that the op yields, not from the one in the assigned sharding. The same
    // holds for a value with one reader, because no other reader would use the assigned sharding.
    Value source = target.isPartial() || isOnlyUse(value, user) ? value : getAssigned(value, user);
    if (!source)
      return {};
    // Partial values are reduced as early as possible: shards are smaller, and early communication can be hidden.
    if (isReducedTo(actualOf(source), target))
      builder.setInsertionPointAfterValue(source);
    else
      builder.setInsertionPoint(user);
    copy = reshard(source, target, user);
  }
  return copies[{value, target}] = copy;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// A request concerns dims. A value that is requested as partial stays partial along axes that the request leaves
/// free.
LogicalResult Inserter::visitRequest(Operation *op, ShardingAttr request) {
  if (std::optional<ShardingAttr> common =
          askedPartial.contains(op->getResult(0)) ? commonPartial(op, {0}) : std::nullopt) {
    AxesAttr kept = differenceOf(common->getPartial(), request.getFlat());
    for (AxesAttr dim : request.getDims())
      kept = differenceOf(kept, dim);
    request = request.withPartial(kept, common->getReduction());
  }
  Value copy = get(op->getOperand(0), request, op);
  if (!copy)
    return failure();
  op->replaceAllUsesWith(ValueRange(copy));
  op->erase();
  return success();
}

LogicalResult Inserter::visitReturn(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    Value copy = get(operand.get(), comm::shardingOfResult(function, operand.getOperandNumber(), symbol), op);
    if (!copy)
      return failure();
    operand.set(copy);
  }
  return success();
}

LogicalResult Inserter::visit(Operation *op) {
  bool isOnTensors = llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) &&
                     llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) && op->getNumResults() > 0;
  OpShardings needs = replicated(op);
  if (std::optional<ShardingRule> rule = isOnTensors ? shardingRuleOf(op) : std::nullopt) {
    FailureOr<FactorAxes> axes = axesOf(op, *rule);
    if (failed(axes))
      return failure();
    std::optional<OpShardings> found = opShardingsOf(*rule, *axes, symbol, mesh);
    if (!found)
      return op->emitOpError() << "cannot be sharded by 'comm.factors': its rule is " << rule->str();
    needs = passPartials(op, *rule, *axes).value_or(*found);
  }
  op->removeAttr(CommDialect::kFactors);
  for (auto [operand, need] : llvm::zip_equal(op->getOpOperands(), needs.operands)) {
    Value copy = get(operand.get(), need, op);
    if (!copy)
      return failure();
    operand.set(copy);
  }
  for (auto [result, sharding] : llvm::zip_equal(op->getResults(), needs.results))
    actual[result] = sharding;
  if (op->hasAttr(CommDialect::kShardings))
    op->setAttr(CommDialect::kShardings,
                builder.getArrayAttr(SmallVector<Attribute>(needs.results.begin(), needs.results.end())));
  return success();
}

LogicalResult Inserter::run() {
  Block &block = function.getBody().front();
  for (BlockArgument argument : function.getArguments())
    if (ShardingAttr sharding = shardingOf(argument))
      assigned[argument] = actual[argument] = sharding;
  findAskedPartial();
  SmallVector<Operation *> ops = llvm::map_to_vector(block, [](Operation &op) { return &op; });
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (ShardingAttr sharding = shardingOf(result))
        assigned[result] = sharding;
      else if (isa<RankedTensorType>(result.getType()))
        return op->emitOpError() << "has no 'comm.shardings'; run comm-propagate before comm-insert-reshards";
  for (Operation *op : ops) {
    ShardingAttr request = requestOf(op);
    if (failed(request ? visitRequest(op, request) : op == block.getTerminator() ? visitReturn(op) : visit(op)))
      return failure();
  }
  for (Operation *op : cloned)
    if (op->use_empty())
      op->erase();
  return success();
}
