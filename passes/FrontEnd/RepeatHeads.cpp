//===- RepeatHeads.cpp - repeat key and value heads for more ranks --------===//
//
// A mesh axis with more ranks than key/value heads cannot shard these heads. After each head is repeated, it can: each
// rank has its query heads and the key/value head that they read.
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/TGBuilder.h"
#define GEN_PASS_DEF_REPEATHEADSPASS
#include "passes/FrontEnd/Passes.h"

using namespace mlir;
using namespace braid;

/// Returns whether a tensor has a factor in a dim of its own.
static bool hasOwnDim(const ShardingRule::TensorFactors &tensor, unsigned factor) {
  std::optional<unsigned> dim = ShardingRule::dimOfFactor(tensor, factor);
  return dim && tensor[*dim].size() == 1;
}

/// Returns the factor of key/value heads that several query heads share. It is the major factor of a dim whose minor
/// factor is the group; the ranks of one head divide the group.
static std::optional<unsigned> groupedHeads(const ShardingRule &rule, int64_t ranks) {
  for (const ShardingRule::TensorFactors &tensor : rule.operands)
    for (const ShardingRule::DimFactors &dim : tensor) {
      if (dim.size() != 2)
        continue;
      int64_t heads = rule.factors[dim[0]].size, group = rule.factors[dim[1]].size;
      bool isAlone = llvm::any_of(rule.results, [&](const auto &result) { return hasOwnDim(result, dim[0]); });
      if (!isAlone && heads < ranks && ranks % heads == 0 && group % (ranks / heads) == 0)
        return dim[0];
    }
  return std::nullopt;
}

static Value repeat(tg::TensorBuilder &t, Value heads, unsigned dim, int64_t times) {
  RankedTensorType type = tg::typeOf(heads);
  SmallVector<int64_t> apart(type.getShape()), dims;
  apart.insert(apart.begin() + dim + 1, times);
  for (int64_t i = 0; i < type.getRank(); ++i)
    dims.push_back(i + (i > dim));
  SmallVector<int64_t> joined(type.getShape());
  joined[dim] *= times;
  return t.reshape(t.broadcast(heads, type.clone(apart), dims), joined);
}

namespace {
struct RepeatHeads final : braid::impl::RepeatHeadsPassBase<RepeatHeads> {
  using RepeatHeadsPassBase::RepeatHeadsPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    for (Operation &op : function.front())
      if (isa<CausalOpInterface>(op))
        visit(op);
  }

  void visit(Operation &op) {
    std::optional<ShardingRule> rule = shardingRuleOf(&op);
    std::optional<unsigned> factor = rule ? groupedHeads(*rule, ranks.getValue()) : std::nullopt;
    if (!factor)
      return;
    OpBuilder builder(&op);
    tg::TensorBuilder t(builder, op.getLoc());
    for (auto [operand, tensor] : llvm::zip_equal(op.getOpOperands(), rule->operands))
      if (hasOwnDim(tensor, *factor))
        operand.set(repeat(t, operand.get(), *ShardingRule::dimOfFactor(tensor, *factor),
                           ranks.getValue() / rule->factors[*factor].size));
  }
};
} // namespace
