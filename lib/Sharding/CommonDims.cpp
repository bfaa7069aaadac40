//===- CommonDims.cpp - dims that are sharded together --------------------===//

#include "lib/Sharding/CommonDims.h"
#include "lib/Sharding/FactorAxes.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace braid;

/// Returns the major factor of a dim: a dim with several factors is sharded along this one.
static std::optional<unsigned> majorFactor(const ShardingRule::DimFactors &dim) {
  return dim.empty() ? std::nullopt : std::optional(dim.front());
}

void CommonDims::add(Value value, unsigned dim) {
  size_t next = dims.size();
  dims.insert({value, dim});
  for (; next < dims.size(); ++next) {
    Dim from = dims[next];
    if (Operation *op = from.first.getDefiningOp())
      visit(op, from);
    for (Operation *user : from.first.getUsers())
      visit(user, from);
  }
}

void CommonDims::visit(Operation *op, Dim from) {
  std::optional<ShardingRule> rule = shardingRuleOf(op);
  if (!rule)
    return;
  auto forEach = [&](llvm::function_ref<void(Dim, unsigned factor)> act) {
    auto visitAll = [&](ValueRange values, ArrayRef<ShardingRule::TensorFactors> tensors) {
      for (auto [value, tensor] : llvm::zip_equal(values, tensors))
        for (auto [dim, factors] : llvm::enumerate(tensor))
          if (std::optional<unsigned> factor = majorFactor(factors))
            act({value, dim}, *factor);
    };
    visitAll(op->getOperands(), rule->operands);
    visitAll(op->getResults(), rule->results);
  };
  llvm::SmallSet<unsigned, 2> shared;
  forEach([&](Dim dim, unsigned factor) {
    if (dim == from && isShardable(rule->factors[factor]))
      shared.insert(factor);
  });
  forEach([&](Dim dim, unsigned factor) {
    if (shared.contains(factor))
      dims.insert(dim);
  });
}
