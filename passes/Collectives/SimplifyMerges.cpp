//===- SimplifyMerges.cpp - merge two collectives into one ----------------===//
//
// Merges pairs of collectives of one tensor, if the value between them has no other reader.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/TG.h"
#include "lib/Sharding/AxisLists.h"
#include "passes/Collectives/Simplify.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// Returns the collective that produces the operand of `second`. Returns null if it has another reader, or if
/// either has more than one tensor.
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

/// Whether an op that reads a value block by block reads this value, through conversions and reordering.
bool isReadByBlocks(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    bool passes = isa<tg::ConcatOp>(user) || tg::movesElements(user);
    return isa<BlockwiseOpInterface>(user) || (passes && isReadByBlocks(user->getResult(0)));
  });
}

/// Whether comm-form-rings will replace a gather by a ring.
bool becomesRing(AllGatherOp op) {
  auto ring = op->getParentOfType<ModuleOp>()->getAttrOfType<AxesAttr>(CommDialect::kRing);
  return ring && op.getAxes() == ring && isReadByBlocks(op->getResult(0));
}

/// all_gather over {a} of all_gather over {b}, along one dim, is all_gather over {a, b}: the second places
/// whole runs of the first side by side. Blocks of a ring stay apart.
struct MergeAllGathers final : RankPattern<AllGatherOp> {
  using RankPattern::RankPattern;

  bool apply(AllGatherOp op, PatternRewriter &rewriter) const final {
    auto first = firstOf<AllGatherOp>(op, ranks);
    if (!first || first.getDims() != op.getDims() || !areDisjoint(first.getAxes(), op.getAxes()) || becomesRing(op))
      return false;
    // Runs with padding are not adjacent until the padding is dropped.
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

/// Returns the linear reduction of one tensor that defines `value` and may move behind an addition, or null.
Operation *linearReductionOf(Value value, const Ranks &ranks) {
  auto find = [&](auto op) -> Operation * {
    return op && isAdditive(op.getKind()) && op->getNumResults() == 1 && op->hasOneUse() ? op.getOperation() : nullptr;
  };
  Operation *reduce = find(ranks.definition<AllReduceOp>(value));
  return reduce ? reduce : find(ranks.definition<ReduceScatterOp>(value));
}

/// Whether both reductions have the same kind, group, dims and types.
bool areAlike(Operation *left, Operation *right) {
  return left->getName() == right->getName() && left->getAttrDictionary() == right->getAttrDictionary() &&
         left->getOperandTypes() == right->getOperandTypes();
}

/// Clones `reduction` with the operand `value`, as the replacement of the result of `op`.
Value cloneReduction(Operation *reduction, Value value, Operation *op, PatternRewriter &rewriter) {
  Operation *reduce = rewriter.clone(*reduction);
  rewriter.modifyOpInPlace(reduce, [&] {
    reduce->setOperand(0, value);
    reduce->setLoc(tg::withFacts(reduce->getLoc(), tg::factsOf(op)));
  });
  return reduce->getResult(0);
}

/// all_reduce(x) - all_reduce(y) is all_reduce(x - y), likewise for reduce_scatter.
template <typename SubOp> struct SubtractBeforeReduce final : OpRewritePattern<SubOp> {
  SubtractBeforeReduce(MLIRContext *context, const Ranks &ranks) : OpRewritePattern<SubOp>(context), ranks(ranks) {}

  LogicalResult matchAndRewrite(SubOp op, PatternRewriter &rewriter) const final {
    Operation *left = linearReductionOf(op.getLhs(), ranks), *right = linearReductionOf(op.getRhs(), ranks);
    if (!left || !right || !areAlike(left, right))
      return failure();
    Value difference = rewriter.create<SubOp>(op.getLoc(), left->getOperand(0), right->getOperand(0));
    rewriter.replaceOp(op, cloneReduction(right, difference, op, rewriter));
    return success();
  }

private:
  const Ranks &ranks;
};

/// all_reduce(x) + all_reduce(y) is all_reduce(x + y), likewise for reduce_scatter. The terms of a sum need not
/// be adjacent: the norm of tensors with different shardings has one reduction per list of axes.
template <typename AddOp> struct AddBeforeReduce final : OpRewritePattern<AddOp> {
  AddBeforeReduce(MLIRContext *context, const Ranks &ranks) : OpRewritePattern<AddOp>(context), ranks(ranks) {}

  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const final {
    if (op->hasOneUse() && isa<AddOp>(*op->user_begin()))
      return failure(); // Only the last addition handles the whole sum.
    SmallVector<Value> terms = termsOf(op);
    SmallVector<Group> groups = groupsOf(terms);
    if (groups.size() == terms.size())
      return failure();
    auto sum = [&](ArrayRef<Value> values) {
      Value total;
      for (Value value : values)
        total = total ? rewriter.create<AddOp>(op.getLoc(), total, value).getResult() : value;
      return total;
    };
    SmallVector<Value> sums;
    for (const Group &group : groups)
      sums.push_back(group.terms.size() == 1 ? group.terms.front()
                                             : cloneReduction(group.reduction, sum(group.sent()), op, rewriter));
    rewriter.replaceOp(op, sum(sums));
    return success();
  }

private:
  /// Terms with the same reduction, or one term without a reduction.
  struct Group {
    Operation *reduction;
    SmallVector<Value> terms;

    SmallVector<Value> sent() const {
      return llvm::map_to_vector(terms, [](Value term) { return term.getDefiningOp()->getOperand(0); });
    }
  };

  /// Returns the terms of a sum, from first to last.
  static SmallVector<Value> termsOf(AddOp op) {
    SmallVector<Value> terms, stack = {op.getRhs(), op.getLhs()};
    while (!stack.empty()) {
      Value value = stack.pop_back_val();
      auto add = value.getDefiningOp<AddOp>();
      if (add && add->hasOneUse() && add->getBlock() == op->getBlock())
        stack.append({add.getRhs(), add.getLhs()});
      else
        terms.push_back(value);
    }
    return terms;
  }

  /// Returns the groups in the order of their first terms.
  SmallVector<Group> groupsOf(ArrayRef<Value> terms) const {
    SmallVector<Group> groups;
    for (Value term : terms) {
      Operation *reduction = linearReductionOf(term, ranks);
      auto group = llvm::find_if(groups, [&](const Group &group) {
        return reduction && group.reduction && areAlike(reduction, group.reduction);
      });
      if (group == groups.end())
        groups.push_back({reduction, {term}});
      else
        group->terms.push_back(term);
    }
    return groups;
  }

  const Ranks &ranks;
};

} // namespace

void braid::populateSimplifyMerges(RewritePatternSet &patterns, const Ranks &ranks) {
  patterns
      .add<MergeAllReduces, MergeAllGathers, MergeReduceScatters, GatherOfReduceScatter, AddBeforeReduce<arith::AddFOp>,
           AddBeforeReduce<arith::AddIOp>, SubtractBeforeReduce<arith::SubFOp>, SubtractBeforeReduce<arith::SubIOp>>(
          patterns.getContext(), ranks);
}
