//===- TokenDims.cpp - batch dims and sequence dims -----------------------===//

#include "lib/Sharding/TokenDims.h"
#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/Roles.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace braid;

/// Returns the factors of an op along which a flow enters it, wholly or in part.
static llvm::SmallBitVector factorsOf(const DimFlow &flow, Operation *op, const ShardingRule &rule) {
  llvm::SmallBitVector factors(rule.factors.size());
  for (unsigned tensor = 0; tensor < rule.numTensors(); ++tensor)
    for (DimPart part : flow.partsOf(ShardingRule::valueOf(op, tensor)))
      for (DimPart factor : factorsOfPart(rule, rule.tensor(tensor), part))
        factors.set(factor.number);
  return factors;
}

/// Returns the results that are sums over a flow's dims. A factor of the flow that no result has makes a sum. A sum
/// remains one through an op that is linear in all operands that are sums.
static llvm::DenseSet<Value> findSums(func::FuncOp function, const DimFlow &flow) {
  llvm::DenseSet<Value> sums;
  for (Operation &op : function.front()) {
    std::optional<ShardingRule> rule = flow.ruleOf(&op);
    if (!rule)
      continue;
    SmallVector<unsigned, 4> summed;
    for (auto [number, operand] : llvm::enumerate(op.getOperands()))
      if (sums.contains(operand))
        summed.push_back(number);
    bool staysSum = !summed.empty() &&
                    llvm::any_of(rule->linear, [&](const auto &set) { return ArrayRef(set) == ArrayRef(summed); });
    llvm::SmallBitVector factors = factorsOf(flow, &op, *rule);
    for (auto [result, dims] : llvm::zip_equal(op.getResults(), rule->results)) {
      auto isSummed = [&](unsigned factor) {
        return rule->factors[factor].kind != FactorKind::Whole && !ShardingRule::dimOfFactor(dims, factor);
      };
      if (staysSum || llvm::any_of(factors.set_bits(), isSummed))
        sums.insert(result);
    }
  }
  return sums;
}

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
  batchSums = findSums(function, batch);
  sequenceSums = findSums(function, sequence);
}

TokenDims::Kind TokenDims::kindOf(Value value, int64_t dim) const {
  return sequence.contains(value, dim) ? Kind::Sequence : batch.contains(value, dim) ? Kind::Batch : Kind::None;
}

SmallVector<TokenDims::Kind> TokenDims::kindsOf(Operation *op, const ShardingRule &rule) const {
  SmallVector<Kind> found(rule.factors.size(), Kind::None);
  for (auto [kind, flow] : {std::pair(Kind::Batch, &batch), std::pair(Kind::Sequence, &sequence)})
    for (unsigned factor : factorsOf(*flow, op, rule).set_bits())
      found[factor] = kind;
  return found;
}
