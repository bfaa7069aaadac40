//===- SimplifyGroups.cpp - groups of one rank and replicated values ------===//
//
// An axis of size 1 has one index, and a group of one rank sends nothing. Values that all ranks of a group hold
// are combined without communication.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"
#include "lib/Sharding/AxisLists.h"
#include "passes/Collectives/Simplify.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

std::optional<SmallVector<Value>> braid::resultsOfOneRank(CollectiveOpInterface op, OpBuilder &builder) {
  // A permute without pairs returns zeros.
  if (op->getNumResults() != op.getSent().size() || op.getRow().naming == Naming::Pairs)
    return std::nullopt;
  tg::TensorBuilder b(builder, op->getLoc());
  SmallVector<Value> results;
  for (auto [sent, result] : llvm::zip(op.getSent(), op->getResults()))
    results.push_back(b.reshape(sent, tg::typeOf(result).getShape()));
  return results;
}

/// Returns the combination of `n` equal values.
static Value combineEqual(tg::TensorBuilder &b, Value value, Reduction kind, int64_t n) {
  if (kind != Reduction::Sum)
    return value;
  if (!tg::isFloat(value))
    return b.make<arith::MulIOp>(value, b.constantLike(value, n));
  return b.convert(b.mul(b.widen(value), n), tg::typeOf(value).getElementType());
}

namespace {

/// Removes axes of size 1 from any op over a group.
struct DropAxesOfOne final : RewritePattern {
  DropAxesOfOne(MLIRContext *context, const Ranks &ranks)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), ranks(ranks) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const final {
    if (!isa_and_nonnull<CommDialect>(op->getDialect()) || !ranks.mayRewrite(op))
      return failure();
    auto axes = op->getAttrOfType<AxesAttr>("axes");
    AxesAttr left = filterAxes(axes, [&](StringAttr axis) { return ranks.mesh.sizeOf(axis) > 1; });
    if (left == axes)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op->setAttr("axes", left); });
    return success();
  }

private:
  const Ranks &ranks;
};

/// A collective in a group of one rank returns its operands.
struct DropCollectiveOfOne final : OpInterfaceRewritePattern<CollectiveOpInterface> {
  DropCollectiveOfOne(MLIRContext *context, const Ranks &ranks) : OpInterfaceRewritePattern(context), ranks(ranks) {}

  LogicalResult matchAndRewrite(CollectiveOpInterface op, PatternRewriter &rewriter) const final {
    if (!ranks.mayRewrite(op) || !op.getAxes().empty())
      return failure();
    std::optional<SmallVector<Value>> results = resultsOfOneRank(op, rewriter);
    if (!results)
      return failure();
    rewriter.replaceOp(op, *results);
    return success();
  }

private:
  const Ranks &ranks;
};

/// Erases a collective whose results no rank of the group reads. Where only some ranks run the function,
/// collectives have effects that keep them.
struct DropUnread final : OpInterfaceRewritePattern<CollectiveOpInterface> {
  DropUnread(MLIRContext *context, const Ranks &ranks) : OpInterfaceRewritePattern(context), ranks(ranks) {}

  LogicalResult matchAndRewrite(CollectiveOpInterface op, PatternRewriter &rewriter) const final {
    if (op->getNumResults() == 0 || !op->use_empty() || !ranks.mayRewrite(op))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }

private:
  const Ranks &ranks;
};

/// A slice in a group of one rank is the whole tensor.
struct DropSliceOfOne final : RankPattern<SliceOp> {
  using RankPattern::RankPattern;

  bool apply(SliceOp op, PatternRewriter &rewriter) const final {
    if (!op.getAxes().empty())
      return false;
    tg::TensorBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, b.reshape(op.getInput(), op.getType().getShape()));
    return true;
  }
};

/// An assemble of one block is that block.
struct DropAssembleOfOne final : RankPattern<AssembleOp> {
  using RankPattern::RankPattern;

  bool apply(AssembleOp op, PatternRewriter &rewriter) const final {
    if (!op.getAxes().empty())
      return false;
    tg::TensorBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, b.reshape(op.getBlocks().front(), op.getType().getShape()));
    return true;
  }
};

/// The index of a rank in a group of one is 0.
struct AxisIndexOfOne final : RankPattern<AxisIndexOp> {
  using RankPattern::RankPattern;

  bool apply(AxisIndexOp op, PatternRewriter &rewriter) const final {
    if (!op.getAxes().empty())
      return false;
    tg::TensorBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, b.zeros(op.getType()));
    return true;
  }
};

/// A permute without pairs returns zeros; a permute that moves nothing returns its operands.
struct DropPermute final : RankPattern<PermuteOp> {
  using RankPattern::RankPattern;

  bool apply(PermuteOp op, PatternRewriter &rewriter) const final {
    ArrayRef<int64_t> pairs = op.getPairs();
    if (pairs.empty()) {
      tg::TensorBuilder b(rewriter, op.getLoc());
      SmallVector<Value> zeros;
      for (Value result : op.getResults())
        zeros.push_back(b.zeros(tg::typeOf(result)));
      rewriter.replaceOp(op, zeros);
      return true;
    }
    for (size_t i = 0; i < pairs.size(); i += 2)
      if (pairs[i] != pairs[i + 1])
        return false;
    if (int64_t(pairs.size()) != 2 * ranks.count(op.getAxes()))
      return false;
    rewriter.replaceOp(op, op.getIns());
    return true;
  }
};

/// Along axes where all ranks hold the same value, an all_reduce multiplies it (sum) or returns it.
struct AllReduceOfReplicated final : RankPattern<AllReduceOp> {
  using RankPattern::RankPattern;

  bool apply(AllReduceOp op, PatternRewriter &rewriter) const final {
    AxesAttr same = op.getAxes();
    for (Value value : op.getIns())
      same = ranks.replication.replicatedAxes(value, same);
    if (same.empty())
      return false;
    AxesAttr left = differenceOf(op.getAxes(), same);
    SmallVector<Value> values(op.getIns());
    if (!left.empty())
      values = llvm::to_vector(ValueRange(
          rewriter.create<AllReduceOp>(op.getLoc(), op.getKind(), op.getIns(), op.getMeshAttr(), left).getResults()));
    tg::TensorBuilder b(rewriter, op.getLoc());
    for (Value &value : values)
      value = combineEqual(b, value, op.getKind(), ranks.count(same));
    rewriter.replaceOp(op, values);
    return true;
  }
};

/// A reduce_scatter of a replicated value is the rank's block of it.
struct ReduceScatterOfReplicated final : RankPattern<ReduceScatterOp> {
  using RankPattern::RankPattern;

  bool apply(ReduceScatterOp op, PatternRewriter &rewriter) const final {
    if (!llvm::all_of(op.getIns(), [&](Value value) { return ranks.replication.isReplicated(value, op.getAxes()); }))
      return false;
    int64_t n = ranks.count(op.getAxes());
    tg::TensorBuilder b(rewriter, op.getLoc());
    SmallVector<Value> blocks;
    for (auto [value, dim] : llvm::zip(op.getIns(), op.getDims()))
      blocks.push_back(
          combineEqual(b, b.make<SliceOp>(value, dim, op.getMeshAttr(), op.getAxes(), n), op.getKind(), n));
    rewriter.replaceOp(op, blocks);
    return true;
  }
};

/// A broadcast of a replicated value is that value.
struct BroadcastOfReplicated final : RankPattern<BroadcastOp> {
  using RankPattern::RankPattern;

  bool apply(BroadcastOp op, PatternRewriter &rewriter) const final {
    if (!llvm::all_of(op.getIns(), [&](Value value) { return ranks.replication.isReplicated(value, op.getAxes()); }))
      return false;
    rewriter.replaceOp(op, op.getIns());
    return true;
  }
};

} // namespace

void braid::populateSimplifyGroups(RewritePatternSet &patterns, const Ranks &ranks) {
  patterns.add<DropAxesOfOne, DropCollectiveOfOne, DropUnread, DropSliceOfOne, DropAssembleOfOne, AxisIndexOfOne,
               DropPermute, AllReduceOfReplicated, ReduceScatterOfReplicated, BroadcastOfReplicated>(
      patterns.getContext(), ranks);
}
