//===- TokenDims.cpp - which dims are examples, which positions -----------===//

#include "lib/Sharding/TokenDims.h"
#include "dialects/TG/Roles.h"

using namespace mlir;
using namespace braid;

TokenDims::TokenDims(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    auto role = function.getArgAttrOfType<tg::RoleAttr>(argument.getArgNumber(), tg::kRole);
    if (!type || !tg::isOfBatch(role) || type.getRank() == 0)
      continue;
    SmallVector<Kind, 4> dims(type.getRank(), Kind::None);
    dims[0] = Kind::Batch;
    if (tg::isOfTokens(role) && type.getRank() > 1)
      dims[1] = Kind::Sequence;
    kinds[argument] = dims;
  }
  for (Operation &op : function.front())
    follow(&op);
}

TokenDims::Kind TokenDims::kindOf(Value value, int64_t dim) const {
  auto known = kinds.find(value);
  return known == kinds.end() ? Kind::None : known->second[dim];
}

SmallVector<TokenDims::Kind> TokenDims::kindsOf(Operation *op, const ShardingRule &rule) const {
  SmallVector<Kind> found(rule.factors.size(), Kind::None);
  auto visit = [&](ValueRange values, ArrayRef<ShardingRule::TensorFactors> tensors) {
    for (auto [value, tensor] : llvm::zip_equal(values, tensors))
      for (auto [dim, factors] : llvm::enumerate(tensor))
        for (unsigned factor : factors)
          found[factor] = std::max(found[factor], kindOf(value, dim));
  };
  visit(op->getOperands(), rule.operands);
  visit(op->getResults(), rule.results);
  return found;
}

/// Sums arise where a factor of positions is in no result; they stay sums where an op is linear in
/// all operands that are.
void TokenDims::follow(Operation *op) {
  std::optional<ShardingRule> rule = shardingRuleOf(op);
  if (!rule)
    return;
  SmallVector<Kind> ofFactors = kindsOf(op, *rule);
  SmallVector<unsigned, 4> summed;
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (isSumOverSequence(operand))
      summed.push_back(number);
  bool staysSum =
      !summed.empty() && llvm::any_of(rule->linear, [&](const auto &set) { return ArrayRef(set) == summed; });
  for (auto [result, factors] : llvm::zip_equal(op->getResults(), rule->results)) {
    llvm::DenseSet<unsigned> own;
    auto &dims = kinds[result];
    for (const ShardingRule::DimFactors &dim : factors) {
      Kind &kind = dims.emplace_back(Kind::None);
      for (unsigned factor : dim) {
        kind = std::max(kind, ofFactors[factor]);
        own.insert(factor);
      }
    }
    bool isSum = staysSum;
    for (unsigned factor = 0; factor < ofFactors.size(); ++factor)
      isSum |= ofFactors[factor] == Kind::Sequence && rule->factors[factor].kind != FactorKind::Whole &&
               !own.contains(factor);
    if (isSum)
      sums.insert(result);
  }
}
