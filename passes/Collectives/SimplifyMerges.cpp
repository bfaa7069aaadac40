//===- SimplifyMerges.cpp - one collective where there were two -----------===//
//
// Pairs of one tensor, where nothing else reads the value between them.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Facts.h"
#include "lib/Sharding/AxisLists.h"
#include "passes/Collectives/Simplify.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// A pair of collectives, the second of what the first makes.  Null when there
/// is another reader, or more than one tensor.
template <typename OpTy> OpTy firstOf(CollectiveOpInterface second, const Ranks &ranks) {
  if (second.getSent().size() != 1)
    return {};
  auto first = ranks.definition<OpTy>(second.getSent().front());
  return first && first->getNumResults() == 1 && first->hasOneUse() ? first : OpTy();
}

/// all_reduce over {a} of all_reduce over {b} is all_reduce over {b, a}.
struct MergeAllReduces final : RankPattern<AllReduceOp> {
  using RankPattern::RankPattern;

  bool apply(AllReduceOp op, PatternRewriter &rewriter) const final {
    auto first = firstOf<AllReduceOp>(op, ranks);
    if (!first || first.getKind() != op.getKind() || !areDisjoint(first.getAxes(), op.getAxes()))
      return false;
    rewriter.replaceOpWithNewOp<AllReduceOp>(op, op.getKind(), first.getIns(), op.getMeshAttr(),
                                             joinAxes(first.getAxes(), op.getAxes()));
    return true;
  }
};

/// all_gather over {a} of all_gather over {b}, along one dim, is all_gather over
/// {a, b}: the second lays whole runs of the first side by side.
struct MergeAllGathers final : RankPattern<AllGatherOp> {
  using RankPattern::RankPattern;

  bool apply(AllGatherOp op, PatternRewriter &rewriter) const final {
    auto first = firstOf<AllGatherOp>(op, ranks);
    if (!first || first.getDims() != op.getDims() || !areDisjoint(first.getAxes(), op.getAxes()))
      return false;
    // Runs that had padding are not side by side before it is dropped.
    auto block = cast<RankedTensorType>(first.getIns().front().getType());
    auto run = cast<RankedTensorType>(first.getResult(0).getType());
    if (block.getNumElements() * ranks.count(first.getAxes()) != run.getNumElements())
      return false;
    rewriter.replaceOpWithNewOp<AllGatherOp>(op, first.getIns(), op.getDims(), op.getMeshAttr(),
                                             joinAxes(op.getAxes(), first.getAxes()), op->getResultTypes());
    return true;
  }
};

/// reduce_scatter over {b} of reduce_scatter over {a}, along one dim, is
/// reduce_scatter over {a, b}.
struct MergeReduceScatters final : RankPattern<ReduceScatterOp> {
  using RankPattern::RankPattern;

  bool apply(ReduceScatterOp op, PatternRewriter &rewriter) const final {
    auto first = firstOf<ReduceScatterOp>(op, ranks);
    if (!first || first.getKind() != op.getKind() || first.getDims() != op.getDims() ||
        !areDisjoint(first.getAxes(), op.getAxes()))
      return false;
    auto run = cast<RankedTensorType>(first.getResult(0).getType());
    if (run.getNumElements() % ranks.count(op.getAxes()))
      return false;
    rewriter.replaceOpWithNewOp<ReduceScatterOp>(op, op.getKind(), first.getIns(), op.getDims(), op.getMeshAttr(),
                                                 joinAxes(first.getAxes(), op.getAxes()), op->getResultTypes());
    return true;
  }
};

/// all_gather of reduce_scatter, over the same axes along the same dim, is
/// all_reduce.
struct GatherOfReduceScatter final : RankPattern<AllGatherOp> {
  using RankPattern::RankPattern;

  bool apply(AllGatherOp op, PatternRewriter &rewriter) const final {
    auto scatter = firstOf<ReduceScatterOp>(op, ranks);
    if (!scatter || scatter.getDims() != op.getDims() || scatter.getAxes() != op.getAxes() ||
        scatter.getIns().getTypes() != op->getResultTypes())
      return false;
    rewriter.replaceOpWithNewOp<AllReduceOp>(op, scatter.getKind(), scatter.getIns(), op.getMeshAttr(), op.getAxes());
    return true;
  }
};

/// all_reduce(x) + all_reduce(y) is all_reduce(x + y), and so for differences and
/// for reduce_scatter.
template <typename AddOp, typename ReduceOp> struct AddBeforeReduce final : OpRewritePattern<AddOp> {
  AddBeforeReduce(MLIRContext *context, const Ranks &ranks) : OpRewritePattern<AddOp>(context), ranks(ranks) {}

  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const final {
    ReduceOp left = reduceOf(op.getLhs()), right = reduceOf(op.getRhs());
    // The same attributes: kind, group, dims.
    if (!left || !right || left->getAttrDictionary() != right->getAttrDictionary() ||
        left.getIns().getTypes() != right.getIns().getTypes())
      return failure();
    Value sum = rewriter.create<AddOp>(op.getLoc(), left.getIns().front(), right.getIns().front());
    Operation *reduce = rewriter.clone(*right);
    rewriter.modifyOpInPlace(reduce, [&] {
      reduce->setOperand(0, sum);
      reduce->setLoc(tg::withFacts(reduce->getLoc(), tg::factsOf(op)));
    });
    rewriter.replaceOp(op, reduce);
    return success();
  }

private:
  ReduceOp reduceOf(Value value) const {
    auto op = ranks.definition<ReduceOp>(value);
    bool isLinear = op && isAdditive(op.getKind());
    return isLinear && op->getNumResults() == 1 && op->hasOneUse() ? op : ReduceOp();
  }

  const Ranks &ranks;
};

} // namespace

void braid::populateSimplifyMerges(RewritePatternSet &patterns, const Ranks &ranks) {
  patterns.add<MergeAllReduces, MergeAllGathers, MergeReduceScatters, GatherOfReduceScatter,
               AddBeforeReduce<arith::AddFOp, AllReduceOp>, AddBeforeReduce<arith::AddIOp, AllReduceOp>,
               AddBeforeReduce<arith::SubFOp, AllReduceOp>, AddBeforeReduce<arith::SubIOp, AllReduceOp>,
               AddBeforeReduce<arith::AddFOp, ReduceScatterOp>, AddBeforeReduce<arith::AddIOp, ReduceScatterOp>,
               AddBeforeReduce<arith::SubFOp, ReduceScatterOp>, AddBeforeReduce<arith::SubIOp, ReduceScatterOp>>(
      patterns.getContext(), ranks);
}
