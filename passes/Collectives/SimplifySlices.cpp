//===- SimplifySlices.cpp - a part of what a collective has made ----------===//
//
// A slice takes this rank's block of a tensor.  When all_gather or all_reduce
// has just made the tensor, less need be sent.
//
// A slice over {a, b} is one over {a}, then one over {b}; an all_gather over
// {a, b} is one over {b}, then one over {a}.  So lists are split where the axes of
// the two ops agree.
//
//===----------------------------------------------------------------------===//

#include "lib/Sharding/AxisLists.h"
#include "mlir/IR/Matchers.h"
#include "passes/Collectives/Simplify.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// Builds collectives of one tensor on the mesh of a slice; over no axes it
/// builds nothing.
struct Steps {
  Steps(PatternRewriter &rewriter, SliceOp op, const Ranks &ranks)
      : rewriter(rewriter), loc(op.getLoc()), mesh(op.getMeshAttr()), ranks(ranks) {}

  Value slice(Value value, int64_t dim, AxesAttr axes, int64_t shift = 0) {
    if (axes.empty())
      return value;
    return rewriter.create<SliceOp>(loc, value, dim, mesh, axes, ranks.count(axes), shift);
  }
  Value allGather(Value value, int64_t dim, AxesAttr axes) {
    if (axes.empty())
      return value;
    Type type = wholeType(cast<RankedTensorType>(value.getType()), dim, ranks.count(axes));
    return rewriter.create<AllGatherOp>(loc, value, ArrayRef(dim), mesh, axes, type).getResult(0);
  }
  Value allToAll(Value value, int64_t split, int64_t concat, AxesAttr axes) {
    return rewriter.create<AllToAllOp>(loc, value, ArrayRef(split), ArrayRef(concat), mesh, axes, ranks.count(axes))
        .getResult(0);
  }
  Value allReduce(Reduction kind, Value value, AxesAttr axes) {
    if (axes.empty())
      return value;
    return rewriter.create<AllReduceOp>(loc, kind, value, mesh, axes).getResult(0);
  }
  Value reduceScatter(Reduction kind, Value value, int64_t dim, AxesAttr axes) {
    Type type = blockType(cast<RankedTensorType>(value.getType()), dim, ranks.count(axes));
    return rewriter.create<ReduceScatterOp>(loc, kind, value, ArrayRef(dim), mesh, axes, type).getResult(0);
  }

  PatternRewriter &rewriter;
  Location loc;
  FlatSymbolRefAttr mesh;
  const Ranks &ranks;
};

/// An all_gather of one or several tensors, as seen from a slice of one result.
struct GatherOfSlice {
  GatherOfSlice(SliceOp slice, const Ranks &ranks) : op(ranks.definition<AllGatherOp>(slice.getInput())) {
    if (!op)
      return;
    unsigned number = cast<OpResult>(slice.getInput()).getResultNumber();
    value = op.getIns()[number];
    dim = op.getDims()[number];
  }
  /// Whether nothing is left of the all_gather without the slice.
  bool isOnlyForSlice() { return op->hasOneUse() && op->getNumResults() == 1; }

  AllGatherOp op;
  Value value;
  int64_t dim = 0;
};

/// slice(all_gather(x)) along one dim: what is gathered and dropped again is not
/// gathered.  Over the same axes nothing is left.
struct SliceOfGather final : RankPattern<SliceOp> {
  using RankPattern::RankPattern;

  bool apply(SliceOp op, PatternRewriter &rewriter) const final {
    GatherOfSlice gather(op, ranks);
    if (!gather.op || gather.dim != int64_t(op.getDim()) || op.getShift())
      return false;
    AxesAttr gathered = gather.op.getAxes(), sliced = op.getAxes();
    size_t common = std::mismatch(gathered.getNames().begin(), gathered.getNames().end(), sliced.getNames().begin(),
                                  sliced.getNames().end())
                        .first -
                    gathered.getNames().begin();
    AxesAttr toGather = sliceAxes(gathered, common), toSlice = sliceAxes(sliced, common);
    if (common == 0 || (!toGather.empty() && !gather.isOnlyForSlice()))
      return false;
    // Flat ranges of ranges need not be ranges, and what stands in the padding of
    // one is known only where it is sliced.
    if (gather.dim == kFlat && (!toGather.empty() || !toSlice.empty() || !hasZeroPadding(gather, op)))
      return false;
    Steps steps(rewriter, op, ranks);
    rewriter.replaceOp(op, steps.slice(steps.allGather(gather.value, gather.dim, toGather), gather.dim, toSlice));
    return true;
  }

private:
  /// Whether the flat ranges that are gathered have no padding, or were sliced from
  /// a tensor with as much of it.
  bool hasZeroPadding(GatherOfSlice &gather, SliceOp op) const {
    int64_t elements = exec::tensorOf(op.getInput().getType()).getNumElements();
    if (elements == op.getType().getNumElements() * ranks.count(op.getAxes()))
      return true;
    auto isSplitAlike = [&](Value whole, int64_t dim, AxesAttr axes) {
      return dim == kFlat && axes == op.getAxes() &&
             cast<RankedTensorType>(whole.getType()).getNumElements() == elements;
    };
    if (auto slice = gather.value.getDefiningOp<SliceOp>())
      return isSplitAlike(slice.getInput(), slice.getDim(), slice.getAxes()) && slice.getShift() == 0;
    auto scatter = gather.value.getDefiningOp<ReduceScatterOp>();
    if (!scatter)
      return false;
    unsigned number = cast<OpResult>(gather.value).getResultNumber();
    return isSplitAlike(scatter.getIns()[number], scatter.getDims()[number], scatter.getAxes());
  }
};

/// slice(all_gather(x)) over other axes and along another dim:
/// all_gather(slice(x)) sends less.
struct SliceBeforeGather final : RankPattern<SliceOp> {
  using RankPattern::RankPattern;

  bool apply(SliceOp op, PatternRewriter &rewriter) const final {
    GatherOfSlice gather(op, ranks);
    int64_t dim = op.getDim();
    if (!gather.op || gather.dim == dim || gather.dim == kFlat || dim == kFlat || !gather.isOnlyForSlice() ||
        !areDisjoint(gather.op.getAxes(), op.getAxes()))
      return false;
    Steps steps(rewriter, op, ranks);
    Value block = steps.slice(gather.value, dim, op.getAxes(), op.getShift());
    rewriter.replaceOp(op, steps.allGather(block, gather.dim, gather.op.getAxes()));
    return true;
  }
};

/// slice(all_gather(x)) over the same axes along another dim is an all_to_all.
/// Axes that only one of the two has stay with it.
struct SliceOfGatherIsAllToAll final : RankPattern<SliceOp> {
  using RankPattern::RankPattern;

  bool apply(SliceOp op, PatternRewriter &rewriter) const final {
    GatherOfSlice gather(op, ranks);
    int64_t dim = op.getDim();
    if (!gather.op || gather.dim == dim || gather.dim == kFlat || dim == kFlat || op.getShift() ||
        !gather.isOnlyForSlice())
      return false;
    AxesAttr gathered = gather.op.getAxes(), sliced = op.getAxes();
    Steps steps(rewriter, op, ranks);
    if (std::optional<size_t> place = findAxes(gathered, sliced)) {
      Value value = steps.allGather(gather.value, gather.dim, sliceAxes(gathered, *place + sliced.size()));
      value = steps.allToAll(value, dim, gather.dim, sliced);
      rewriter.replaceOp(op, steps.allGather(value, gather.dim, sliceAxes(gathered, 0, *place)));
      return true;
    }
    if (std::optional<size_t> place = findAxes(sliced, gathered)) {
      Value value = steps.slice(gather.value, dim, sliceAxes(sliced, 0, *place));
      value = steps.allToAll(value, dim, gather.dim, gathered);
      rewriter.replaceOp(op, steps.slice(value, dim, sliceAxes(sliced, *place + gathered.size())));
      return true;
    }
    return false;
  }
};

/// slice(all_reduce(x)) is a reduce_scatter over the axes that both have, and an
/// all_reduce of the block over what is left.
struct SliceOfAllReduce final : RankPattern<SliceOp> {
  using RankPattern::RankPattern;

  bool apply(SliceOp op, PatternRewriter &rewriter) const final {
    auto reduce = ranks.definition<AllReduceOp>(op.getInput());
    if (!reduce || reduce->getNumResults() != 1 || !reduce->hasOneUse())
      return false;
    AxesAttr reduced = reduce.getAxes(), sliced = op.getAxes();
    int64_t dim = op.getDim();
    Value value = reduce.getIns().front();
    // As early as it was reduced: from there on the block is all that lives.
    rewriter.setInsertionPoint(reduce);
    Steps steps(rewriter, op, ranks);
    if (areDisjoint(reduced, sliced)) {
      Value block = steps.slice(value, dim, sliced, op.getShift());
      rewriter.replaceOp(op, steps.allReduce(reduce.getKind(), block, reduced));
      return true;
    }
    if (op.getShift() || (dim == kFlat && !isSubset(sliced, reduced)))
      return false;
    // Slice by slice from the major axis on: as long as the axes are reduced, or
    // as long as they are not.
    bool isReduced = reduced.contains(sliced.getNames().front());
    size_t count = 0;
    while (count < sliced.size() && reduced.contains(sliced.getNames()[count]) == isReduced)
      ++count;
    AxesAttr now = sliceAxes(sliced, 0, count), later = sliceAxes(sliced, count);
    value = isReduced ? steps.reduceScatter(reduce.getKind(), value, dim, now) : steps.slice(value, dim, now);
    value = steps.allReduce(reduce.getKind(), value, differenceOf(reduced, now));
    rewriter.replaceOp(op, steps.slice(value, dim, later));
    return true;
  }
};

/// slice(slice(x)) along one dim is one slice.
struct SliceOfSlice final : RankPattern<SliceOp> {
  using RankPattern::RankPattern;

  bool apply(SliceOp op, PatternRewriter &rewriter) const final {
    auto first = ranks.definition<SliceOp>(op.getInput());
    if (!first || first.getDim() != op.getDim() || first.getShift() || op.getShift() || !first->hasOneUse() ||
        !areDisjoint(first.getAxes(), op.getAxes()))
      return false;
    // A range that is padded when it is split again does not end where the next begins.
    if (int64_t(op.getDim()) == kFlat && first.getType().getNumElements() % ranks.count(op.getAxes()))
      return false;
    Steps steps(rewriter, op, ranks);
    rewriter.replaceOp(op, steps.slice(first.getInput(), op.getDim(), joinAxes(first.getAxes(), op.getAxes())));
    return true;
  }
};

/// A slice of equal elements is as many as it has.
struct SliceOfSplat final : RankPattern<SliceOp> {
  using RankPattern::RankPattern;

  bool apply(SliceOp op, PatternRewriter &rewriter) const final {
    SplatElementsAttr splat;
    if (!matchPattern(op.getInput(), m_Constant(&splat)))
      return false;
    int64_t blocks = op.getType().getNumElements() * ranks.count(op.getAxes());
    bool isPadded = splat.getNumElements() != blocks;
    auto value = splat.getSplatValue<Attribute>();
    if (isPadded && value != rewriter.getZeroAttr(op.getType().getElementType()))
      return false;
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, DenseElementsAttr::get(op.getType(), value));
    return true;
  }
};

} // namespace

void braid::populateSimplifySlices(RewritePatternSet &patterns, const Ranks &ranks) {
  patterns.add<SliceOfGather, SliceBeforeGather, SliceOfGatherIsAllToAll, SliceOfAllReduce, SliceOfSlice, SliceOfSplat>(
      patterns.getContext(), ranks);
}
