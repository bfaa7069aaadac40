//===- BucketRoles.cpp - from new values back to collectives --------------===//

#include "passes/Collectives/BucketRoles.h"
#include "dialects/Comm/Mesh.h"
#include "dialects/Interfaces/ShardingRule.h"
#include "passes/Graph/Signature.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

static int64_t elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getNumElements() : 0;
}

/// What is linear and neither adds up nor repeats along a dim puts elements elsewhere,
/// with zeros between them or without some.
static bool placesElements(const ShardingRule &rule) {
  bool isLinear = llvm::any_of(rule.linear, [](const auto &set) { return set.size() == 1 && set.front() == 0; });
  llvm::SmallDenseSet<unsigned> read, made;
  auto addParallel = [&](llvm::SmallDenseSet<unsigned> &set, const ShardingRule::TensorFactors &dims) {
    for (const ShardingRule::DimFactors &dim : dims)
      for (unsigned factor : dim)
        if (rule.factors[factor].kind != FactorKind::Whole)
          set.insert(factor);
  };
  addParallel(read, rule.operands.front());
  addParallel(made, rule.results.front());
  return isLinear && read == made;
}

bool braid::isNumber(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 0;
}

bool braid::movesElements(Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1 || op->getNumRegions() != 0)
    return false;
  if (isa_and_nonnull<CommDialect>(op->getDialect()))
    return !isa<CollectiveOpInterface>(op);
  if (elementsOf(op->getOperand(0)) == elementsOf(op->getResult(0)))
    return true;
  std::optional<ShardingRule> rule = shardingRuleOf(op);
  return rule && placesElements(*rule);
}

CollectiveRoles::CollectiveRoles(func::FuncOp function) : function(function), parameters(parametersByOwner(function)) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (StringAttr name = tg::nameOf(function.getArgAttrDict(i)))
      arguments[name] = i;
  func::ReturnOp results = returnOf(function);
  for (auto [index, value] : llvm::enumerate(results.getOperands()))
    if (auto updates = function.getResultAttrOfType<StringAttr>(index, tg::kUpdates))
      if (auto argument = arguments.find(updates); argument != arguments.end())
        give(value, argument->second);
  for (Operation &op : llvm::reverse(function.front()))
    giveOperands(op);
}

bool CollectiveRoles::isParameter(unsigned argument) const {
  return parameterOf(function.getArgument(argument)) != nullptr;
}

void CollectiveRoles::give(Value value, unsigned argument) {
  auto [entry, isNew] = belongsTo.try_emplace(value, argument);
  auto rank = [&](unsigned number) { return std::pair(!isParameter(number), number); };
  if (!isNew && rank(argument) < rank(entry->second))
    entry->second = argument;
}

/// What becomes a result element by element, and what a collective or a rank's own
/// copy moves there.
void CollectiveRoles::giveOperands(Operation &op) {
  auto owned = llvm::find_if(op.getResults(), [&](Value result) { return belongsTo.contains(result); });
  if (owned == op.getResults().end() || op.getNumRegions() != 0)
    return;
  if (auto collective = dyn_cast<CollectiveOpInterface>(op); collective && op.getNumOperands() == op.getNumResults()) {
    for (auto [operand, result] : llvm::zip_equal(op.getOperands(), op.getResults()))
      if (auto entry = belongsTo.find(result); entry != belongsTo.end())
        give(operand, unsigned(entry->second));
    return;
  }
  unsigned argument = belongsTo.lookup(*owned);
  bool moves = movesElements(&op) || isa_and_nonnull<CommDialect>(op.getDialect());
  std::optional<ShardingRule> rule = moves ? std::nullopt : shardingRuleOf(&op);
  if (!moves && !(rule && rule->flat))
    return;
  for (Value operand : op.getOperands())
    if (moves || elementsOf(operand) == elementsOf(*owned))
      give(operand, argument);
}

BlockArgument CollectiveRoles::argumentOf(Value value) const {
  auto entry = belongsTo.find(value);
  if (entry == belongsTo.end())
    return {};
  BlockArgument argument = function.getArgument(entry->second);
  tg::StateAttr state = stateOf(argument);
  return state && state.isAccumulator() && state.getOf() ? parameters.lookup(state.getOf()) : argument;
}

/// Whether a rank keeps `value` itself across steps, but for its type.
bool CollectiveRoles::isStoredParameter(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    if (op->getNumOperands() != 1 || op->getNumResults() != 1)
      return false;
    value = op->getOperand(0);
  }
  return isParameter(cast<BlockArgument>(value).getArgNumber());
}

std::optional<CollectiveRole> CollectiveRoles::roleOf(CollectiveOpInterface op) const {
  ProgramAttr program = enclosingProgram(op);
  bool spansFunctions = program && program.getAxis() && op.getAxes().contains(program.getAxis());
  // Buckets are of tensors that all ranks of the group send and receive.
  if (spansFunctions || op.getRow().isTransfer() || op.getRootRank() || op->getNumResults() == 0 ||
      op.getSent().size() != op->getNumResults() || op->getNumOperands() != op->getNumResults() ||
      op->getParentOp() != function)
    return std::nullopt;
  BlockArgument argument = argumentOf(op->getResult(0));
  if (!op.getReductionKind()) {
    bool isGather = op.getRow().resultsAgree && argument && parameterOf(argument);
    return isGather && llvm::none_of(op.getSent(), [&](Value sent) { return isStoredParameter(sent); })
               ? std::optional(CollectiveRole::Update)
               : std::nullopt;
  }
  if (argument && parameterOf(argument))
    return CollectiveRole::Gradient;
  if (llvm::all_of(op->getResults(), [](Value result) { return elementsOf(result) == 1; }))
    return CollectiveRole::Scalar;
  return argument ? std::optional(CollectiveRole::State) : std::nullopt;
}
