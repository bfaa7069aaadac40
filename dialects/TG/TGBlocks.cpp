//===- TGBlocks.cpp - attention by blocks of keys -------------------------===//
//
// Attention to a block of keys is a softmax of its own. The results of two blocks are merged with
// weights from their log-sum-exps. The backward pass starts from the merged result and log-sum-exp,
// so each block adds one term to the gradients of the queries.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

/// Operand numbers of keys and values; their gradients have the same numbers among the results of the backward op.
static constexpr std::pair<unsigned, unsigned> kKeySequence = {1, 1}, kValueSequence = {2, 1};

static Value addOffset(TensorBuilder &t, Value start, Value base) {
  return matchPattern(base, m_Zero()) ? start : t.make<arith::AddIOp>(base, start);
}

/// Builds the op on one block of keys and values.
template <typename Op> static Op onBlock(Op op, OpBuilder &builder, ValueRange block, Value start) {
  TensorBuilder t(builder, op.getLoc());
  Value queryStart = op.getQueryStart(), keyStart = op.getKeyStart();
  bool countsByPosition = op.getMask().getCausal() || op.getDocuments();
  if (countsByPosition && !queryStart)
    queryStart = t.constantLike(start, static_cast<double>(op.getMask().getFirst()));
  auto part = cast<Op>(builder.clone(*op));
  part.getKeyMutable().assign(block[0]);
  part.getValueMutable().assign(block[1]);
  if (!countsByPosition) {
    part.getQueryStartMutable().clear();
    part.getKeyStartMutable().clear();
    return part;
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(part);
  part.getQueryStartMutable().assign(queryStart);
  part.getKeyStartMutable().assign(keyStart ? addOffset(t, start, keyStart) : start);
  part.setMaskAttr(MaskAttr::get(op.getContext(), op.getMask().getCausal(), op.getMask().getWindow()));
  return part;
}

std::string AttentionOp::getReasonAgainstBlocks() { return ""; }

BlockDims AttentionOp::getBlockDims() { return {{kKeySequence, kValueSequence}, {}}; }

SmallVector<Value> AttentionOp::buildOnBlock(OpBuilder &builder, ValueRange block, Value start) {
  return onBlock(*this, builder, block, start)->getResults();
}

SmallVector<Value> AttentionOp::mergeBlocks(OpBuilder &builder, ValueRange some, ValueRange others) {
  TensorBuilder t(builder, originOf(*this, "merge"));
  // Each query sees at least one key of `some`, so this log-sum-exp is finite, and so is the maximum.
  Value largest = t.make<arith::MaximumFOp>(some[1], others[1]);
  Value weight = t.exp(t.sub(some[1], largest)), other = t.exp(t.sub(others[1], largest));
  Value sum = t.add(weight, other);
  auto weighted = [&](Value result, Value weightSum) {
    Value wide = t.widen(result);
    return t.mul(wide, t.broadcastRows(t.transpose(t.div(weightSum, sum), {0, 2, 1}), wide));
  };
  Value ofSome = weighted(some[0], weight), ofOthers = weighted(others[0], other);
  return {t.add(ofSome, ofOthers), t.add(largest, t.log(sum))};
}

std::string AttentionGradOp::getReasonAgainstBlocks() { return ""; }

BlockDims AttentionGradOp::getBlockDims() { return {{kKeySequence, kValueSequence}, {kKeySequence, kValueSequence}}; }

SmallVector<Value> AttentionGradOp::buildOnBlock(OpBuilder &builder, ValueRange block, Value start) {
  AttentionGradOp part = onBlock(*this, builder, block, start);
  part.getDkey().setType(cast<RankedTensorType>(block[0].getType()));
  part.getDvalue().setType(cast<RankedTensorType>(block[1].getType()));
  return part->getResults();
}

SmallVector<Value> AttentionGradOp::mergeBlocks(OpBuilder &builder, ValueRange some, ValueRange others) {
  TensorBuilder t(builder, originOf(*this, "merge"));
  Value sum = t.widen(some[0]);
  return {t.add(sum, t.widen(others[0]))};
}

std::string DropoutAttentionOp::getReasonAgainstBlocks() {
  return "its dropout applies to a softmax over all keys, and a block has only some keys";
}
BlockDims DropoutAttentionOp::getBlockDims() { return {}; }
SmallVector<Value> DropoutAttentionOp::buildOnBlock(OpBuilder &, ValueRange, Value) {
  llvm_unreachable("it has no blocks");
}
SmallVector<Value> DropoutAttentionOp::mergeBlocks(OpBuilder &, ValueRange, ValueRange) {
  llvm_unreachable("it has no blocks");
}
