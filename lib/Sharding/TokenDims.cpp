//===- TokenDims.cpp - batch dims and sequence dims -----------------------===//

#include "lib/Sharding/TokenDims.h"
#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/Roles.h"
#include "lib/Sharding/GlobalFunction.h"

using namespace mlir;
using namespace braid;

TokenDims::TokenDims(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    tg::RoleAttr role = tg::ArgumentAttrs(argument).role;
    if (!type || !tg::isOfBatch(role) || type.getRank() == 0)
      continue;
    SmallVector<Kind, 4> dims(type.getRank(), Kind::None);
    dims[0] = Kind::Batch;
    if (tg::isOfTokens(role) && type.getRank() > 1)
      dims[1] = Kind::Sequence;
    kinds[argument] = dims;
  }
  std::vector<std::pair<Operation *, ShardingRule>> ops;
  for (Operation &op : function.front())
    if (std::optional<ShardingRule> rule = requestOf(&op) ? elementwiseRule(&op) : shardingRuleOf(&op))
      ops.emplace_back(&op, std::move(*rule));
  // Operands that are added to tokens, such as a table of positions, are marked by walking the ops backward.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[op, rule] : ops)
      changed |= mark(op, rule);
    for (auto &[op, rule] : llvm::reverse(ops))
      changed |= mark(op, rule);
  }
  for (auto &[op, rule] : ops)
    sumUp(op, rule);
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

bool TokenDims::mark(Value value, const ShardingRule::TensorFactors &factors, ArrayRef<Kind> ofFactors) {
  auto &dims = kinds[value];
  dims.resize(factors.size(), Kind::None);
  bool changed = false;
  for (auto [kind, dim] : llvm::zip_equal(dims, factors))
    for (unsigned factor : dim)
      if (kind < ofFactors[factor]) {
        kind = ofFactors[factor];
        changed = true;
      }
  return changed;
}

bool TokenDims::mark(Operation *op, const ShardingRule &rule) {
  SmallVector<Kind> ofFactors = kindsOf(op, rule);
  bool changed = false;
  for (auto [value, factors] : llvm::zip_equal(op->getOperands(), rule.operands))
    changed |= mark(value, factors, ofFactors);
  for (auto [value, factors] : llvm::zip_equal(op->getResults(), rule.results))
    changed |= mark(value, factors, ofFactors);
  return changed;
}

/// Marks results that are sums over positions. A factor of positions that no result has makes a
/// sum. A sum remains one through an op that is linear in all operands that are sums.
void TokenDims::sumUp(Operation *op, const ShardingRule &rule) {
  SmallVector<Kind> ofFactors = kindsOf(op, rule);
  SmallVector<unsigned, 4> summed;
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (isSumOverSequence(operand))
      summed.push_back(number);
  bool staysSum =
      !summed.empty() && llvm::any_of(rule.linear, [&](const auto &set) { return ArrayRef(set) == ArrayRef(summed); });
  for (auto [result, factors] : llvm::zip_equal(op->getResults(), rule.results)) {
    llvm::DenseSet<unsigned> own;
    for (const ShardingRule::DimFactors &dim : factors)
      own.insert(dim.begin(), dim.end());
    bool isSum = staysSum;
    for (unsigned factor = 0; factor < ofFactors.size(); ++factor)
      isSum |= ofFactors[factor] == Kind::Sequence && rule.factors[factor].kind != FactorKind::Whole &&
               !own.contains(factor);
    if (isSum)
      sums.insert(result);
  }
}
