//===- SimplifyConverts.cpp - gather the narrower of two types ------------===//
//
// A conversion is elementwise, so it can stand before or after a gather. It moves to the side where the gather
// sends fewer bytes.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"
#include "passes/Collectives/Simplify.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

int64_t bitsOf(Value value) { return tg::typeOf(value).getElementTypeBitWidth(); }

Value gatherInstead(PatternRewriter &rewriter, AllGatherOp op, Value sent) {
  Type type = tg::withElement(tg::typeOf(op.getResult(0)), tg::typeOf(sent).getElementType());
  return rewriter.create<AllGatherOp>(op.getLoc(), ValueRange(sent), op.getDims(), op.getMeshAttr(), op.getAxes(), type)
      .getResult(0);
}

/// all_gather(widen(x)) is widen(all_gather(x)).
struct GatherBeforeWidening final : RankPattern<AllGatherOp> {
  using RankPattern::RankPattern;

  bool apply(AllGatherOp op, PatternRewriter &rewriter) const final {
    if (op.getIns().size() != 1)
      return false;
    Value wide = op.getIns().front(), narrow = conversionSource(wide);
    if (!narrow || bitsOf(narrow) >= bitsOf(wide))
      return false;
    Value gathered = gatherInstead(rewriter, op, narrow);
    rewriter.replaceOpWithNewOp<tg::ConvertOp>(op, op.getResult(0).getType(), gathered);
    return true;
  }
};

/// narrow(all_gather(x)) is all_gather(narrow(x)), if all readers narrow it.
struct NarrowBeforeGather final : RankPattern<AllGatherOp> {
  using RankPattern::RankPattern;

  bool apply(AllGatherOp op, PatternRewriter &rewriter) const final {
    if (op.getIns().size() != 1 || op.use_empty())
      return false;
    Value wide = op.getIns().front();
    SmallVector<Operation *> readers(op->getUsers());
    Type narrow = readers.front()->getResultTypes().empty() ? Type() : readers.front()->getResult(0).getType();
    for (Operation *reader : readers)
      if (!isConversion(reader) || reader->getResult(0).getType() != narrow ||
          bitsOf(reader->getResult(0)) >= bitsOf(wide))
        return false;
    Type element = cast<RankedTensorType>(narrow).getElementType();
    Value sent = rewriter.create<tg::ConvertOp>(op.getLoc(), tg::withElement(tg::typeOf(wide), element), wide);
    Value gathered = gatherInstead(rewriter, op, sent);
    for (Operation *reader : readers)
      rewriter.replaceOp(reader, gathered);
    rewriter.eraseOp(op);
    return true;
  }
};
} // namespace

void braid::populateSimplifyConverts(RewritePatternSet &patterns, const Ranks &ranks) {
  patterns.add<GatherBeforeWidening, NarrowBeforeGather>(patterns.getContext(), ranks);
}
