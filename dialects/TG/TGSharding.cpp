//===- TGSharding.cpp - every op as an einsum over factors ----------------===//
//
// Rules use the notation of ShardingRule.h: a letter that no result has is reduced;
// `...` stands for leading dims. TGShards.cpp builds the shards of ops that are not
// simply the same op on a rank's parts.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TG.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

using TensorFactors = ShardingRule::TensorFactors;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// Returns the factors of a tensor with one new factor for each dim.
static TensorFactors addDims(ShardingRule &rule, ArrayRef<int64_t> shape) {
  TensorFactors dims;
  for (int64_t size : shape)
    dims.push_back({rule.add(size)});
  return dims;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// A narrowing conversion may round each partial sum, so that ranks send the narrow
/// type. A widening one is not linear: ranks would send more bytes than they store.
ShardingRule ConvertOp::getShardingRule() {
  ShardingRule rule = elementwiseRule(*this);
  Type from = getInput().getType().getElementType(), to = getType().getElementType();
  bool narrows =
      isa<FloatType>(from) && isa<FloatType>(to) && to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth();
  return narrows ? rule.linearIn(0) : rule;
}
ShardingRule StopGradientOp::getShardingRule() { return elementwiseRule(*this).linearIn(0); }
ShardingRule HookOp::getShardingRule() { return elementwiseRule(*this).linearIn(0); }
ShardingRule UpdateOp::getShardingRule() { return elementwiseRule(*this); }

//===----------------------------------------------------------------------===//
// Random numbers and positions: the key has no factor and is not sharded
//===----------------------------------------------------------------------===//

/// Returns a rule with a positional factor for every dim of the result.
static ShardingRule positionalRule(Operation *op) {
  ShardingRule rule;
  rule.results.push_back(addDims(rule, shapeOf(op->getResult(0))));
  for (Factor &factor : rule.factors)
    factor.positional = true;
  return rule;
}

/// The random numbers of the decomposition take an offset; the op itself does not.
ShardingRule DropoutOp::getShardingRule() {
  ShardingRule rule = positionalRule(*this);
  for (Factor &factor : rule.factors)
    factor.decomposed = true;
  rule.operands = {rule.results[0], TensorFactors(1)};
  return rule;
}

ShardingRule RandomUniformOp::getShardingRule() {
  ShardingRule rule = positionalRule(*this);
  rule.operands.emplace_back(1);
  rule.operands.resize(1 + getOffsets().size());
  return rule;
}

ShardingRule IotaOp::getShardingRule() {
  ShardingRule rule = elementwiseRule(*this);
  rule.factors[getDim()].positional = true;
  rule.flat = false;
  return rule;
}

//===----------------------------------------------------------------------===//
// Contraction, movement and reduction
//===----------------------------------------------------------------------===//

ShardingRule ContractOp::getShardingRule() {
  auto spaced = [](StringRef letters) {
    auto words = llvm::map_range(letters, [](char letter) { return std::string(1, letter); });
    return letters.empty() ? std::string("()") : llvm::join(words, " ");
  };
  ContractionAttr dims = getContraction();
  return einsumRule(*this, spaced(dims.getLhs()) + "," + spaced(dims.getRhs()) + "->" + spaced(dims.getResult()))
      .linearIn(0)
      .linearIn(1);
}

ShardingRule BroadcastOp::getShardingRule() {
  ShardingRule rule;
  rule.results.push_back(addDims(rule, shapeOf(getResult())));
  TensorFactors &input = rule.operands.emplace_back(getDims().size());
  for (auto [index, dim] : llvm::enumerate(getDims()))
    if (shapeOf(getInput())[index] == shapeOf(getResult())[dim])
      input[index] = rule.results[0][dim];
  rule.flat = input.empty() && !rule.factors.empty();
  return rule.linearIn(0);
}

static Combine combineKindOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return Combine::Sum;
  case ReduceKind::Max:
    return Combine::Max;
  case ReduceKind::Mean:
    return Combine::Mean;
  }
  llvm_unreachable("all kinds are named");
}

ShardingRule ReduceOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.push_back(addDims(rule, shapeOf(getInput())));
  TensorFactors &result = rule.results.emplace_back();
  for (auto [index, dim] : llvm::enumerate(rule.operands[0])) {
    if (!llvm::is_contained(getDims(), static_cast<int64_t>(index))) {
      result.push_back(dim);
      continue;
    }
    rule.factors[dim.front()].kind = FactorKind::Reduced;
    rule.factors[dim.front()].combine = combineKindOf(getKind());
  }
  if (getKind() != ReduceKind::Max)
    rule.linearIn(0);
  // If one flat range is padded, the mean of all is not the mean of the ranges' means.
  rule.flat = getType().getRank() == 0 && !rule.factors.empty() && getKind() != ReduceKind::Mean;
  return rule;
}

ShardingRule CountOp::getShardingRule() { return einsumRule(*this, "... -> ()"); }

ShardingRule TransposeOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.push_back(addDims(rule, shapeOf(getInput())));
  TensorFactors &result = rule.results.emplace_back();
  for (int64_t dim : getPermutation())
    result.push_back(rule.operands[0][dim]);
  return rule.linearIn(0);
}

ShardingRule ReshapeOp::getShardingRule() {
  ShardingRule rule = reshapeRule(*this);
  rule.flat = !shapeOf(getInput()).empty() && !shapeOf(getResult()).empty();
  return rule.linearIn(0);
}

/// Operands and results have the same factors, except `dim`, which cannot be sharded.
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

ShardingRule SliceOp::getShardingRule() { return wholeDimRule(*this, getDim()).linearIn(0); }

ShardingRule ReorderOp::getShardingRule() { return wholeDimRule(*this, getDim()).linearIn(0); }

ShardingRule ConcatOp::getShardingRule() {
  return wholeDimRule(*this, getDim()).linearIn(llvm::to_vector<4>(llvm::seq<unsigned>(0, getNumOperands())));
}

ShardingRule PadOp::getShardingRule() {
  ShardingRule rule = wholeDimRule(*this, getDim());
  return getValue().isZero() ? rule.linearIn(0) : rule;
}

// A rank that holds some rows of the table gathers these rows, and writes zeros for all others.
ShardingRule GatherOp::getShardingRule() { return einsumRule(*this, "v d, ... -> ... d", "", "v").linearIn(0); }
ShardingRule ScatterAddOp::getShardingRule() { return einsumRule(*this, "..., ... d -> v d", "", "v").linearIn(1); }

//===----------------------------------------------------------------------===//
// Rows: the last dim is whole in the op, and can be sharded in its decomposition
//===----------------------------------------------------------------------===//

static ShardingRule rowsRule(Operation *op, StringRef notation) { return einsumRule(op, notation, "n", "", "n"); }

ShardingRule SoftmaxOp::getShardingRule() { return rowsRule(*this, "... n -> ... n"); }
ShardingRule SoftmaxGradOp::getShardingRule() { return rowsRule(*this, "... n, ... n -> ... n"); }

ShardingRule LayerNormOp::getShardingRule() {
  return rowsRule(*this, getBias() ? "... n, n, n -> ... n, ..., ..." : "... n, n -> ... n, ..., ...");
}

ShardingRule LayerNormGradOp::getShardingRule() { return rowsRule(*this, "... n, n, ..., ..., ... n -> ... n, n, n"); }

ShardingRule RmsNormOp::getShardingRule() { return rowsRule(*this, "... n, n -> ... n, ..."); }
ShardingRule RmsNormGradOp::getShardingRule() { return rowsRule(*this, "... n, n, ..., ... n -> ... n, n"); }

/// A mean over some of the rows would divide by their number. Sharded rows need the
/// decomposition, which divides the sum by the number of all rows.
static StringRef decomposedOf(LossReduction reduction) { return reduction == LossReduction::Mean ? "v." : "v"; }

ShardingRule CrossEntropyOp::getShardingRule() {
  return einsumRule(*this, "... v, ... -> (), ...", "v", "", decomposedOf(getReduction()));
}

ShardingRule CrossEntropyGradOp::getShardingRule() {
  return einsumRule(*this, "... v, ..., ..., () -> ... v", "v", "", decomposedOf(getReduction()));
}

//===----------------------------------------------------------------------===//
// Attention: k key heads, g query heads per key head. A causal mask and documents depend on
// positions, so a shard of the queries needs its offset.
//===----------------------------------------------------------------------===//

template <typename Op> static bool countsByPosition(Op op) { return op.getMask().getCausal() || op.getDocuments(); }

/// Returns the notation for the documents and the two positions, if the op has them: keys t, or positions p.
template <typename Op> static std::string placesOf(Op op) {
  std::string places;
  if (op.getDocuments())
    places += op.getQueryStart() ? ", b p" : ", b t";
  if (op.getQueryStart())
    places += ", (), ()";
  return places;
}

/// The softmax needs every key, so the key sequence t is whole.
ShardingRule AttentionOp::getShardingRule() {
  return einsumRule(*this, "b s kg d, b t k d, b t k d" + placesOf(*this) + " -> b s kg d, b kg s", "tdp",
                    countsByPosition(*this) ? "s" : "");
}

/// Like attention, but the query sequence is whole, too. The random numbers of the decomposition take
/// offsets of heads and rows; the op does not.
ShardingRule DropoutAttentionOp::getShardingRule() {
  return einsumRule(*this,
                    getDocuments() ? "b s kg d, b t k d, b t k d, 1, b t -> b s kg d"
                                   : "b s kg d, b t k d, b t k d, 1 -> b s kg d",
                    countsByPosition(*this) ? "std" : "td", "bkgs", "bkgs");
}

/// The saved log-sum-exp replaces the reduction of the softmax: dq over a shard of t,
/// and dk and dv over a shard of s, are partial sums.
ShardingRule AttentionGradOp::getShardingRule() {
  return einsumRule(*this,
                    "b s kg d, b t k d, b t k d, b s kg d, b kg s, b s kg d" + placesOf(*this) +
                        " -> b s kg d, b t k d, b t k d",
                    countsByPosition(*this) ? "tdp" : "d", countsByPosition(*this) ? "s" : "");
}

ShardingRule RopeOp::getShardingRule() { return einsumRule(*this, "b s h d -> b s h d", "d", "s", "s"); }

//===----------------------------------------------------------------------===//
// Experts: a batch row b is a group of tokens s with k choices each; an expert e has slots c.
// Ranking and slots need the whole row, so only rows and widths are sharded. The contraction between
// dispatch and collect may be sharded by expert; its neighbors are then resharded.
//===----------------------------------------------------------------------===//

ShardingRule TopKOp::getShardingRule() { return einsumRule(*this, "... n -> ... k, ... k", "nk"); }
ShardingRule ExpertSlotsOp::getShardingRule() {
  return einsumRule(*this, getPresent() ? "b s k, b s -> b s k, e b c" : "b s k -> b s k, e b c", "skec");
}
ShardingRule DispatchOp::getShardingRule() {
  return einsumRule(*this, "b s d, b s k, e b c -> e b c d", "skec").linearIn(0);
}
ShardingRule CollectOp::getShardingRule() {
  return einsumRule(*this, "e b c d, b s k, e b c -> b s k d", "ekc").linearIn(0);
}

/// Returns the notation of `count` tensors, each with the leading dims and `dim`.
static std::string repeated(StringRef dim, size_t count) {
  return llvm::join(SmallVector<std::string>(count, ("... " + dim).str()), ", ");
}

/// Not the mean of the ranks' results: the loss is a product of means, and a mean over all layers.
ShardingRule LoadBalanceOp::getShardingRule() {
  size_t layers = getChosen().size();
  return einsumRule(*this,
                    repeated("e", layers) + ", " + repeated("k", layers) + (getPresent() ? ", ... -> ()" : " -> ()"),
                    "ek", "", ".");
}
ShardingRule RouterZOp::getShardingRule() {
  return einsumRule(*this, repeated("e", getLogits().size()) + (getPresent() ? ", ... -> ()" : " -> ()"), "e", "", ".");
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

/// Lanes are blocks b of i elements; a block is whole.
static ShardingRule blockRule(Operation *op, StringRef notation) {
  ShardingRule rule = einsumRule(op, notation, "i");
  rule.flat = rule.unpadded = true;
  return rule;
}
ShardingRule QuantizeOp::getShardingRule() { return blockRule(*this, "... bi, ... bi -> ... bi, ... b"); }
ShardingRule DequantizeOp::getShardingRule() { return blockRule(*this, "... bi, ... b -> ... bi"); }

ShardingRule GlobalNormOp::getShardingRule() {
  ShardingRule rule;
  for (Value input : getInputs())
    rule.operands.push_back(addDims(rule, shapeOf(input)));
  for (Factor &factor : rule.factors) {
    factor.kind = FactorKind::Reduced;
    factor.decomposed = true; // the root of a partial sum is not a partial root
  }
  rule.flat = !rule.factors.empty();
  rule.results.emplace_back();
  return rule;
}
