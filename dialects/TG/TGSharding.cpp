//===- TGSharding.cpp - every op as an einsum over factors ----------------===//
//
// The notation is that of ShardingRule.h.  Reading aid: a letter that no result
// has is reduced; `...` are leading dims.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TG.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

using TensorFactors = ShardingRule::TensorFactors;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// A tensor with one new factor for each dim.
static TensorFactors addDims(ShardingRule &rule, ArrayRef<int64_t> shape) {
  TensorFactors dims;
  for (int64_t size : shape)
    dims.push_back({rule.add(size)});
  return dims;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

ShardingRule GeluOp::getShardingRule() { return elementwiseRule(*this); }
ShardingRule GeluGradOp::getShardingRule() { return elementwiseRule(*this); }
ShardingRule SiluOp::getShardingRule() { return elementwiseRule(*this); }
ShardingRule ReluOp::getShardingRule() { return elementwiseRule(*this); }
ShardingRule SiluGradOp::getShardingRule() { return elementwiseRule(*this); }
ShardingRule ConvertOp::getShardingRule() { return elementwiseRule(*this); }
ShardingRule StopGradientOp::getShardingRule() { return elementwiseRule(*this); }
ShardingRule HookOp::getShardingRule() { return elementwiseRule(*this); }
ShardingRule SgdOp::getShardingRule() { return elementwiseRule(*this); }
ShardingRule AdamOp::getShardingRule() { return elementwiseRule(*this); }

//===----------------------------------------------------------------------===//
// Random numbers and positions: the key is whole and has no factor
//===----------------------------------------------------------------------===//

/// The input (if any) and the result walk together; values depend on the index.
static ShardingRule randomRule(Operation *op) {
  ShardingRule rule;
  TensorFactors dims = addDims(rule, shapeOf(op->getResult(0)));
  for (Factor &factor : rule.factors)
    factor.positional = true;
  for (unsigned i = 0; i + 1 < op->getNumOperands(); ++i)
    rule.operands.push_back(dims);
  rule.operands.emplace_back(1);
  rule.results.push_back(dims);
  return rule;
}

ShardingRule DropoutOp::getShardingRule() { return randomRule(*this); }
ShardingRule RandomUniformOp::getShardingRule() { return randomRule(*this); }

ShardingRule IotaOp::getShardingRule() {
  ShardingRule rule = elementwiseRule(*this);
  rule.factors[getDim()].positional = true;
  return rule;
}

//===----------------------------------------------------------------------===//
// Contraction, movement and reduction
//===----------------------------------------------------------------------===//

ShardingRule ContractOp::getShardingRule() {
  auto spaced = [](StringRef letters) {
    return letters.empty() ? std::string("()") : llvm::join(llvm::map_range(letters, [](char c) { return std::string(1, c); }), " ");
  };
  return einsumRule(*this, spaced(getLhsDims()) + "," + spaced(getRhsDims()) + "->" + spaced(getResultDims()));
}

ShardingRule BroadcastOp::getShardingRule() {
  ShardingRule rule;
  rule.results.push_back(addDims(rule, shapeOf(getResult())));
  TensorFactors &input = rule.operands.emplace_back(getDims().size());
  for (auto [index, dim] : llvm::enumerate(getDims()))
    if (shapeOf(getInput())[index] == shapeOf(getResult())[dim])
      input[index] = rule.results[0][dim];
  return rule;
}

ShardingRule ReduceOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.push_back(addDims(rule, shapeOf(getInput())));
  TensorFactors &result = rule.results.emplace_back();
  for (auto [index, dim] : llvm::enumerate(rule.operands[0])) {
    if (llvm::is_contained(getDims(), static_cast<int64_t>(index)))
      rule.factors[dim.front()].kind = FactorKind::Reduced;
    else
      result.push_back(dim);
  }
  return rule;
}

ShardingRule CountOp::getShardingRule() { return einsumRule(*this, "... -> ()"); }

ShardingRule TransposeOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.push_back(addDims(rule, shapeOf(getInput())));
  TensorFactors &result = rule.results.emplace_back();
  for (int64_t dim : getPermutation())
    result.push_back(rule.operands[0][dim]);
  return rule;
}

ShardingRule ReshapeOp::getShardingRule() { return reshapeRule(*this); }

/// Operands and result agree but for `dim`, which is whole in each.
static ShardingRule wholeDimRule(Operation *op, int64_t dim) {
  ShardingRule rule;
  TensorFactors shared = addDims(rule, shapeOf(op->getResult(0)));
  rule.factors[shared[dim].front()].kind = FactorKind::Whole;
  for (Value operand : op->getOperands()) {
    TensorFactors &dims = rule.operands.emplace_back(shared);
    dims[dim] = {rule.add(shapeOf(operand)[dim], FactorKind::Whole)};
  }
  rule.results.push_back(shared);
  return rule;
}

ShardingRule SliceOp::getShardingRule() { return wholeDimRule(*this, getDim()); }
ShardingRule ConcatOp::getShardingRule() { return wholeDimRule(*this, getDim()); }
ShardingRule PadOp::getShardingRule() { return wholeDimRule(*this, getDim()); }

ShardingRule GatherOp::getShardingRule() { return einsumRule(*this, "v d, ... -> ... d", "v"); }
ShardingRule ScatterAddOp::getShardingRule() { return einsumRule(*this, "..., ... d -> v d", "v"); }

//===----------------------------------------------------------------------===//
// Rows: the last dim stays whole
//===----------------------------------------------------------------------===//

ShardingRule SoftmaxOp::getShardingRule() { return einsumRule(*this, "... n -> ... n", "n"); }
ShardingRule SoftmaxGradOp::getShardingRule() { return einsumRule(*this, "... n, ... n -> ... n", "n"); }

ShardingRule LayerNormOp::getShardingRule() {
  return einsumRule(*this, getBias() ? "... n, n, n -> ... n, ..., ..." : "... n, n -> ... n, ..., ...", "n");
}

ShardingRule LayerNormGradOp::getShardingRule() {
  return einsumRule(*this, "... n, n, ..., ..., ... n -> ... n, n, n", "n");
}

ShardingRule RmsNormOp::getShardingRule() { return einsumRule(*this, "... n, n -> ... n, ...", "n"); }
ShardingRule RmsNormGradOp::getShardingRule() { return einsumRule(*this, "... n, n, ..., ... n -> ... n, n", "n"); }

ShardingRule CrossEntropyOp::getShardingRule() { return einsumRule(*this, "... v, ... -> (), ...", "v"); }
ShardingRule CrossEntropyGradOp::getShardingRule() {
  return einsumRule(*this, "... v, ..., ..., () -> ... v", "v");
}

//===----------------------------------------------------------------------===//
// Attention: k kv heads, g query heads for each
//===----------------------------------------------------------------------===//

ShardingRule AttentionOp::getShardingRule() {
  // The softmax needs every key, so their sequence t stays whole; a causal mask
  // compares positions.
  return einsumRule(*this, "b s kg d, b t k d, b t k d -> b s kg d, b kg s", "td", getCausal() ? "st" : "");
}

ShardingRule AttentionGradOp::getShardingRule() {
  // The saved log-sum-exp replaces the softmax's reduction: dq over a shard of t,
  // dk and dv over a shard of s are partial sums.
  return einsumRule(*this, "b s kg d, b t k d, b t k d, b s kg d, b kg s, b s kg d -> b s kg d, b t k d, b t k d", "d",
                    getCausal() ? "st" : "");
}

ShardingRule RopeOp::getShardingRule() { return einsumRule(*this, "b s h d -> b s h d", "d", "s"); }

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

ShardingRule GlobalNormOp::getShardingRule() {
  ShardingRule rule;
  for (Value input : getInputs())
    rule.operands.push_back(addDims(rule, shapeOf(input)));
  for (Factor &factor : rule.factors)
    factor.kind = FactorKind::Reduced;
  rule.results.emplace_back();
  return rule;
}
