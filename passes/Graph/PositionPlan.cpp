//===- PositionPlan.cpp - values needed for one position ------------------===//

#include "passes/Graph/PositionPlan.h"
#include "dialects/TG/Facts.h"
#include "passes/Graph/PositionRow.h"
#include "passes/Graph/Signature.h"

using namespace mlir;
using namespace braid;

ArrayRef<unsigned> PositionPlan::getNeededDims(Value value) const {
  auto dims = rows.find(value);
  return dims == rows.end() ? ArrayRef<unsigned>() : ArrayRef<unsigned>(dims->second);
}

void PositionPlan::need(Value value, std::optional<unsigned> dim) {
  if (!dim) {
    whole.insert(value);
    return;
  }
  SmallVector<unsigned, 1> &dims = rows[value];
  if (!llvm::is_contained(dims, *dim))
    dims.push_back(*dim);
}

/// Returns the only factor of a dim whose size is not 1, or nothing if there are several.
static std::optional<unsigned> onlyFactor(const ShardingRule &rule, const ShardingRule::DimFactors &factors) {
  std::optional<unsigned> found;
  for (unsigned factor : factors) {
    if (rule.factors[factor].size == 1)
      continue;
    if (found)
      return std::nullopt;
    found = factor;
  }
  return found;
}

/// Returns the dim with the factor, or nothing if the tensor lacks it. Fails if the factor is only a part of a dim.
static FailureOr<std::optional<unsigned>> dimOf(const ShardingRule &rule, unsigned factor,
                                                const ShardingRule::TensorFactors &dims) {
  std::optional<unsigned> found;
  for (auto [dim, factors] : llvm::enumerate(dims)) {
    if (!llvm::is_contained(factors, factor))
      continue;
    if (!onlyFactor(rule, factors))
      return failure();
    found = dim;
  }
  return found;
}

std::optional<PositionDims> PositionPlan::dimsOf(OpResult value, unsigned dim) const {
  Operation *op = value.getOwner();
  std::optional<ShardingRule> rule = shardingRuleOf(op);
  // A conversion of a parameter must stay its first reader: tg-working-copies then replaces both by a parameter of the
  // converted type.
  bool isOfParameter = isConversion(op) && !dependsOnTokens(value);
  if (!rule || op->getNumRegions() > 0 || isOfParameter)
    return std::nullopt;
  std::optional<unsigned> factor = onlyFactor(*rule, rule->results[value.getResultNumber()][dim]);
  if (!factor)
    return std::nullopt;
  PositionDims found{std::move(*rule), *factor, {}, {}};
  if (found.rule.factors[found.factor].kind == FactorKind::Whole)
    return std::nullopt;
  auto add = [&](ArrayRef<ShardingRule::TensorFactors> tensors, SmallVectorImpl<std::optional<unsigned>> &dims) {
    for (const ShardingRule::TensorFactors &tensor : tensors) {
      FailureOr<std::optional<unsigned>> one = dimOf(found.rule, found.factor, tensor);
      if (failed(one))
        return failure();
      dims.push_back(*one);
    }
    return success();
  };
  if (failed(add(found.rule.operands, found.operands)) || failed(add(found.rule.results, found.results)))
    return std::nullopt;
  return found;
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

void PositionPlan::addCache(Operation *op, Value value, unsigned dim, StringRef what) {
  StringAttr unit = tg::unitOf(tg::factsOf(op));
  std::string name = (unit ? unit.str() + "." : "") + "cache." + what.str();
  auto isTaken = [&](StringRef other) {
    return llvm::any_of(caches, [&](const auto &entry) { return entry.second.name == other; });
  };
  std::string unique = name;
  for (unsigned number = 1; isTaken(unique); ++number)
    unique = name + "." + std::to_string(number);
  caches.insert({value, {value, dim, std::move(unique)}});
}

void PositionPlan::visitCausal(CausalOpInterface op, const SequenceDims &dims) {
  for (auto [number, dim] : llvm::enumerate(dims.operands)) {
    Value operand = op->getOperand(number);
    auto past = llvm::find_if(dims.past, [&](const auto &entry) { return entry.first == number; });
    if (past == dims.past.end()) {
      need(operand, dim);
    } else if (!dependsOnTokens(operand)) {
      need(operand, std::nullopt);
    } else {
      need(operand, dim);
      if (!caches.contains(operand))
        addCache(op, operand, *dim, past->second);
    }
  }
}

//===----------------------------------------------------------------------===//
// Backwards from the results
//===----------------------------------------------------------------------===//

static std::string nameOf(Operation *op) { return "'" + op->getName().getStringRef().str() + "'"; }

LogicalResult PositionPlan::visitWhole(OpResult value, std::string &why) {
  if (!dependsOnTokens(value))
    return success();
  if (Value table = pickedFrom(value.getOwner(), position)) {
    need(table, 0);
    return success();
  }
  for (Value operand : value.getOwner()->getOperands()) {
    if (operand == tokens) {
      why = nameOf(value.getOwner()) + " reads all tokens";
      return failure();
    }
    need(operand, std::nullopt);
  }
  return success();
}

LogicalResult PositionPlan::visitRow(OpResult value, unsigned dim, std::string &why) {
  Operation *op = value.getOwner();
  std::optional<SequenceDims> sequence;
  if (auto causal = dyn_cast<CausalOpInterface>(op))
    sequence = causal.getSequenceDims();
  if (sequence && sequence->results[value.getResultNumber()] == dim) {
    visitCausal(cast<CausalOpInterface>(op), *sequence);
    return success();
  }
  std::optional<PositionDims> dims = dimsOf(value, dim);
  if (!dims && !dependsOnTokens(value))
    return success(); // its row is picked from the value
  if (!dims) {
    why = nameOf(op) + " needs all positions of the sequence at once";
    return failure();
  }
  if (dims->rule.factors[dims->factor].decomposed && isa<DecomposableOpInterface>(op))
    composites.insert(op);
  for (auto [operand, at] : llvm::zip_equal(op->getOperands(), dims->operands))
    need(operand, at);
  return success();
}

LogicalResult PositionPlan::find(std::string &why) {
  ofTokens.insert(tokens);
  Block &block = function.front();
  for (Operation &op : block.without_terminator())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return dependsOnTokens(operand); }))
      ofTokens.insert(op.result_begin(), op.result_end());
  for (Value returned : returnOf(function).getOperands())
    need(returned, std::nullopt);
  for (Operation &op : llvm::reverse(block.without_terminator()))
    for (OpResult result : op.getResults()) {
      if (isNeededWhole(result) && failed(visitWhole(result, why)))
        return failure();
      for (unsigned dim : SmallVector<unsigned, 1>(getNeededDims(result)))
        if (failed(visitRow(result, dim, why)))
          return failure();
    }
  if (isNeededWhole(tokens)) {
    why = "a result is the tokens themselves";
    return failure();
  }
  return success();
}
