//===- TokenDims.cpp - batch dims and sequence dims -----------------------===//

#include "lib/Sharding/TokenDims.h"
#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/Roles.h"

using namespace mlir;
using namespace braid;

TokenDims::TokenDims(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    tg::RoleAttr role = tg::ArgumentAttrs(argument).role;
    if (!type || !tg::isOfBatch(role) || type.getRank() == 0)
      continue;
    batch.start(argument, 0);
    if (tg::isOfTokens(role) && type.getRank() > 1)
      sequence.start(argument, 1);
  }
  if (failed(batch.run()) || failed(sequence.run()))
    llvm_unreachable("nothing interrupts the flow");
  for (Operation &op : function.front())
    if (std::optional<ShardingRule> rule = sequence.ruleOf(&op))
      sumUp(&op, *rule);
}

TokenDims::Kind TokenDims::kindOf(Value value, int64_t dim) const {
  return sequence.contains(value, dim) ? Kind::Sequence : batch.contains(value, dim) ? Kind::Batch : Kind::None;
}

SmallVector<TokenDims::Kind> TokenDims::kindsOf(Operation *op, const ShardingRule &rule) const {
  SmallVector<Kind> found(rule.factors.size(), Kind::None);
  for (auto [kind, flow] : {std::pair(Kind::Batch, &batch), std::pair(Kind::Sequence, &sequence)})
    for (unsigned tensor = 0; tensor < rule.numTensors(); ++tensor)
      for (DimPart part : flow->partsOf(ShardingRule::valueOf(op, tensor)))
        for (DimPart factor : factorsOfPart(rule, rule.tensor(tensor), part))
          found[factor.number] = kind;
  return found;
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
    bool isSum = staysSum;
    for (unsigned factor = 0; factor < ofFactors.size(); ++factor)
      isSum |= ofFactors[factor] == Kind::Sequence && rule.factors[factor].kind != FactorKind::Whole &&
               !ShardingRule::dimWith(factors, factor);
    if (isSum)
      sums.insert(result);
  }
}
