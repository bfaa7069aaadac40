//===- SimplifySlices.cpp - slices of the results of collectives ----------===//
//
// A slice takes this rank's block of a tensor. If an all_gather or all_reduce produces the tensor, the
// collective can send less.
//
// A slice over {a, b} is one over {a}, then one over {b}; an all_gather over {a, b} is one over {b}, then one
// over {a}. The axis lists of the two ops are therefore split where they agree.
//
//===----------------------------------------------------------------------===//

#include "lib/Sharding/AxisLists.h"
#include "mlir/IR/Matchers.h"
#include "passes/Collectives/Simplify.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// Builds collectives of one tensor on the mesh of a slice. Over no axes it returns the value itself.
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
  /// Whether the slice is the only use of the all_gather.
  bool isOnlyForSlice() { return op->hasOneUse() && op->getNumResults() == 1; }

  AllGatherOp op;
  Value value;
  int64_t dim = 0;
};

/// slice(all_gather(x)) along one dim does not gather the blocks that the slice drops. Over the same axes
/// nothing remains.
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
    // Flat ranges of ranges need not be contiguous. The padding of a range is known only at its slice.
    if (gather.dim == kFlat && (!toGather.empty() || !toSlice.empty() || !hasZeroPadding(gather, op)))
      return false;
    Steps steps(rewriter, op, ranks);
    rewriter.replaceOp(op, steps.slice(steps.allGather(gather.value, gather.dim, toGather), gather.dim, toSlice));
    return true;
  }

private:
  /// Whether the gathered flat ranges have no padding, or were sliced from a tensor with the same padding.
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

/// slice(all_gather(x)) over other axes and along another dim becomes all_gather(slice(x)), which sends less.
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

/// slice(all_gather(x)) over the same axes along another dim is an all_to_all. Axes of only one of the two stay
/// with that op.
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

/// slice(all_reduce(x)) is a reduce_scatter over the common axes, then an all_reduce of the block over the
/// remaining axes.
struct SliceOfAllReduce final : RankPattern<SliceOp> {
  using RankPattern::RankPattern;

  bool apply(SliceOp op, PatternRewriter &rewriter) const final {
    auto reduce = ranks.definition<AllReduceOp>(op.getInput());
    if (!reduce || reduce->getNumResults() != 1 || !reduce->hasOneUse())
      return false;
    AxesAttr reduced = reduce.getAxes(), sliced = op.getAxes();
    int64_t dim = op.getDim();
    Value value = reduce.getIns().front();
    // The new ops stand at the all_reduce, so that only the block is live from there on.
    rewriter.setInsertionPoint(reduce);
    Steps steps(rewriter, op, ranks);
    if (areDisjoint(reduced, sliced)) {
      Value block = steps.slice(value, dim, sliced, op.getShift());
      rewriter.replaceOp(op, steps.allReduce(reduce.getKind(), block, reduced));
      return true;
    }
    if (op.getShift() || (dim == kFlat && !isSubset(sliced, reduced)))
      return false;
    // Slices from the major axis on, over runs of axes that are all reduced or all not reduced.
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
    // A padded range that is split again does not end where the next begins.
    if (int64_t(op.getDim()) == kFlat && first.getType().getNumElements() % ranks.count(op.getAxes()))
      return false;
    Steps steps(rewriter, op, ranks);
    rewriter.replaceOp(op, steps.slice(first.getInput(), op.getDim(), joinAxes(first.getAxes(), op.getAxes())));
    return true;
  }
};

/// A slice of a splat is a splat of the slice's type.
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
