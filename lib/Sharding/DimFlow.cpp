//===- DimFlow.cpp - dims that ops link by factors ------------------------===//

#include "lib/Sharding/DimFlow.h"
#include "lib/Sharding/GlobalFunction.h"

using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

/// Returns the outermost factor of a dim, other than factors of size 1.
static std::optional<unsigned> outermostFactor(const ShardingRule &rule, const ShardingRule::DimFactors &dim) {
  const auto *found = llvm::find_if(dim, [&](unsigned factor) { return rule.factors[factor].size != 1; });
  return found == dim.end() ? std::nullopt : std::optional(*found);
}

FactorDims FactorDims::along(ShardingRule rule, unsigned factor) {
  auto dimIn = [&](const ShardingRule::TensorFactors &tensor) { return ShardingRule::dimOfFactor(tensor, factor); };
  SmallVector<std::optional<unsigned>> operands = llvm::map_to_vector(rule.operands, dimIn);
  SmallVector<std::optional<unsigned>> results = llvm::map_to_vector(rule.results, dimIn);
  return {std::move(rule), factor, std::move(operands), std::move(results)};
}

std::optional<FactorDims> FactorDims::through(Operation *op, Value value, unsigned dim) {
  std::optional<ShardingRule> rule = shardingRuleOf(op);
  if (!rule)
    return std::nullopt;
  unsigned tensor = 0;
  while (ShardingRule::valueOf(op, tensor) != value)
    ++tensor;
  std::optional<unsigned> factor = outermostFactor(*rule, rule->tensor(tensor)[dim]);
  return factor ? std::optional(along(std::move(*rule), *factor)) : std::nullopt;
}

/// Returns whether `fits` holds for each dim that contains the factor.
static bool allDims(const FactorDims &dims, llvm::function_ref<bool(const ShardingRule::DimFactors &dim)> fits) {
  return llvm::all_of(llvm::seq(dims.rule.numTensors()), [&](unsigned tensor) {
    return llvm::all_of(dims.rule.tensor(tensor),
                        [&](const auto &dim) { return !llvm::is_contained(dim, dims.factor) || fits(dim); });
  });
}

bool FactorDims::areOutermost() const {
  return allDims(*this, [&](const auto &dim) { return outermostFactor(rule, dim) == factor; });
}

bool FactorDims::areWhole() const {
  return allDims(*this, [&](const auto &dim) {
    return llvm::all_of(dim, [&](unsigned other) { return other == factor || rule.factors[other].size == 1; });
  });
}

//===----------------------------------------------------------------------===//
// Parts of dims
//===----------------------------------------------------------------------===//

/// Returns the factor that a part of one index is in. Prefers a factor of that size: it tells a batch of 1 from the end
/// of the next minor factor.
static DimParts factorOfOneIndex(const ShardingRule &rule, const ShardingRule::DimFactors &dim, int64_t inner) {
  DimParts exact, within;
  int64_t below = 1;
  for (unsigned factor : llvm::reverse(dim)) {
    int64_t size = rule.factors[factor].size;
    if (below == inner && size == 1)
      exact = {{factor, 1, 1}};
    if (inner % below == 0 && below * size % inner == 0)
      within = {{factor, inner / below, 1}};
    below *= size;
  }
  return exact.empty() ? within : exact;
}

DimParts braid::factorsOfPart(const ShardingRule &rule, const ShardingRule::TensorFactors &tensor, DimPart part) {
  const ShardingRule::DimFactors &dim = tensor[part.number];
  if (part.size == 1)
    return factorOfOneIndex(rule, dim, part.inner);
  DimParts found;
  int64_t below = 1;
  for (unsigned factor : llvm::reverse(dim)) {
    int64_t above = below * rule.factors[factor].size;
    int64_t from = std::max(below, part.inner), to = std::min(above, part.inner * part.size);
    if (from < to) {
      if (from % below != 0 || to % from != 0 || above % to != 0)
        return {};
      found.push_back({factor, from / below, to / from});
    }
    below = above;
  }
  return found;
}

/// Returns the parts of a tensor's dims that a part of a factor links.
static DimParts dimsOfPart(const ShardingRule &rule, const ShardingRule::TensorFactors &tensor, DimPart part) {
  DimParts found;
  for (auto [dim, factors] : llvm::enumerate(tensor)) {
    int64_t below = 1;
    for (unsigned factor : llvm::reverse(factors)) {
      if (factor == part.number)
        found.push_back({static_cast<unsigned>(dim), below * part.inner, part.size});
      below *= rule.factors[factor].size;
    }
  }
  return found;
}

//===----------------------------------------------------------------------===//
// From op to op
//===----------------------------------------------------------------------===//

std::optional<ShardingRule> DimFlow::ruleOf(Operation *op) const {
  return requestOf(op) ? elementwiseRule(op) : shardingRuleOf(op);
}

WalkResult DimFlow::enter(Operation *op, const ShardingRule *rule, DimParts &factors) { return WalkResult::advance(); }
WalkResult DimFlow::reach(Operation *op, Value value, DimPart part) { return WalkResult::advance(); }

void DimFlow::start(Value value, unsigned dim) {
  add(value, {dim, 1, cast<RankedTensorType>(value.getType()).getDimSize(dim)});
}

void DimFlow::clear() {
  reached.clear();
  work.clear();
}

ArrayRef<DimPart> DimFlow::partsOf(Value value) const {
  const auto *known = reached.find(value);
  return known == reached.end() ? ArrayRef<DimPart>() : known->second;
}

bool DimFlow::contains(Value value, unsigned dim) const {
  return llvm::any_of(partsOf(value), [&](DimPart part) { return part.number == dim; });
}

void DimFlow::add(Value value, DimPart part) {
  reached[value].push_back(part);
  if (Operation *producer = value.getDefiningOp())
    work.insert(producer);
  work.insert(value.user_begin(), value.user_end());
}

LogicalResult DimFlow::spread(Operation *op, const ShardingRule &rule, DimPart factor) {
  for (unsigned tensor = 0; tensor < rule.numTensors(); ++tensor) {
    Value value = ShardingRule::valueOf(op, tensor);
    for (DimPart part : dimsOfPart(rule, rule.tensor(tensor), factor)) {
      if (llvm::is_contained(partsOf(value), part))
        continue;
      WalkResult found = reach(op, value, part);
      if (found.wasInterrupted())
        return failure();
      if (!found.wasSkipped())
        add(value, part);
    }
  }
  return success();
}

LogicalResult DimFlow::visit(Operation *op) {
  std::optional<ShardingRule> rule = ruleOf(op);
  DimParts none;
  if (!rule)
    return failure(enter(op, nullptr, none).wasInterrupted());
  for (unsigned tensor = 0; tensor < rule->numTensors(); ++tensor)
    for (DimPart part : DimParts(partsOf(ShardingRule::valueOf(op, tensor)))) {
      DimParts factors = factorsOfPart(*rule, rule->tensor(tensor), part);
      WalkResult found = enter(op, &*rule, factors);
      if (found.wasInterrupted())
        return failure();
      for (DimPart factor : found.wasSkipped() ? DimParts() : factors)
        if (failed(spread(op, *rule, factor)))
          return failure();
    }
  return success();
}

LogicalResult DimFlow::run() {
  while (!work.empty())
    if (failed(visit(work.pop_back_val())))
      return failure();
  return success();
}
