//===- TGCost.cpp - floating-point operations of each op ------------------===//
//
// A multiplication, addition, comparison or function call such as exp counts as one
// operation. Ops that only move elements do no arithmetic; they keep the interface's
// default of one operation per element, as the cost of moving it.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TG.h"

using namespace mlir;
using namespace braid::tg;

static int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }
static int64_t sizeOf(Value value, int64_t dim) { return cast<RankedTensorType>(value.getType()).getDimSize(dim); }

int64_t ContractOp::getFlops() {
  return 2 * elementsOf(getResult()) * getContraction().getContractedSize(getLhs().getType().getShape());
}

int64_t ReduceOp::getFlops() { return elementsOf(getInput()); }

int64_t DropoutOp::getFlops() { return 2 * elementsOf(getResult()); }

// Per element: max, subtract, exp, add, divide.
int64_t SoftmaxOp::getFlops() { return 5 * elementsOf(getResult()); }
int64_t SoftmaxGradOp::getFlops() { return 4 * elementsOf(getResult()); }
int64_t LayerNormOp::getFlops() { return 7 * elementsOf(getResult()); }
int64_t LayerNormGradOp::getFlops() { return 14 * elementsOf(getInput()); }
int64_t RmsNormOp::getFlops() { return 4 * elementsOf(getResult()); }
int64_t RmsNormGradOp::getFlops() { return 10 * elementsOf(getInput()); }

/// Returns the FLOPs of one matmul of attention: all pairs of a query row and a key that the
/// mask keeps. A causal mask keeps half of them.
static int64_t attentionMatmulFlops(Value query, Value key, MaskAttr mask, bool atPositions) {
  int64_t queries = sizeOf(query, 1), keys = sizeOf(key, 1);
  return 2 * (elementsOf(query) / queries) *
         (atPositions ? mask.meanPairsOf(queries, keys) : mask.pairsOf(queries, keys));
}

int64_t AttentionOp::getFlops() {
  return 2 * attentionMatmulFlops(getQuery(), getKey(), getMask(), getQueryStart() != nullptr);
}

int64_t DropoutAttentionOp::getFlops() {
  return 2 * attentionMatmulFlops(getQuery(), getKey(), getMask(), /*atPositions=*/false);
}

// Five matmuls of the backward pass: recomputed scores, dv, dp, dq and dk.
int64_t AttentionGradOp::getFlops() {
  return 5 * attentionMatmulFlops(getQuery(), getKey(), getMask(), getQueryStart() != nullptr);
}

int64_t RopeOp::getFlops() { return 3 * (elementsOf(getResult()) / sizeOf(getResult(), 3)) * getTurned(); }
int64_t CrossEntropyOp::getFlops() { return 4 * elementsOf(getLogits()); }
int64_t CrossEntropyGradOp::getFlops() { return 4 * elementsOf(getLogits()); }

// Each lane is compared with every other lane, and each of the k ranks with the rank of every lane.
int64_t TopKOp::getFlops() {
  int64_t lanes = getInput().getType().getShape().back(), k = getK();
  return elementsOf(getInput()) * (4 * lanes + 2 * k);
}

// Each choice is compared with every other choice of its row, and each slot with every choice.
int64_t ExpertSlotsOp::getFlops() {
  int64_t choices = elementsOf(getChosen()) / sizeOf(getChosen(), 0);
  return (3 * elementsOf(getChosen()) + 2 * elementsOf(getChoices())) * choices;
}

int64_t LoadBalanceOp::getFlops() {
  int64_t flops = 0, experts = cast<RankedTensorType>(getProbabilities().front().getType()).getShape().back();
  for (auto [p, chosen] : llvm::zip_equal(getProbabilities(), getChosen()))
    flops += elementsOf(p) + 2 * experts * elementsOf(chosen);
  return flops;
}
int64_t RouterZOp::getFlops() { return 5 * elementsOf(getLogits().front()) * getLogits().size(); }

// Per element: the maximum of its block, a division, two roots, the levels of the codes below and above, and
// the choice.
int64_t QuantizeOp::getFlops() { return 22 * elementsOf(getInput()); }
int64_t DequantizeOp::getFlops() { return 5 * elementsOf(getCodes()); }

int64_t GlobalNormOp::getFlops() {
  int64_t flops = 1;
  for (Value input : getInputs())
    flops += 2 * elementsOf(input);
  return flops;
}
