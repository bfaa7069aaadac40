//===- TGIndices.cpp - the ops of tg that use integers as indices ---------===//

#include "dialects/TG/TGIndices.h"
#include "dialects/Interfaces/Indexing.h"
#include "dialects/TG/TG.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

namespace {

/// Rows of `table`.
std::optional<IndexRange> rowsOf(Value table) {
  return IndexRange{cast<RankedTensorType>(table.getType()).getDimSize(0)};
}

struct GatherIndices : IndexingOpInterface::ExternalModel<GatherIndices, GatherOp> {
  std::optional<IndexRange> getIndexRange(Operation *op, OpOperand &operand) const {
    auto gather = cast<GatherOp>(op);
    return operand.get() == gather.getIndices() ? rowsOf(gather.getTable()) : std::nullopt;
  }
};

struct ScatterIndices : IndexingOpInterface::ExternalModel<ScatterIndices, ScatterAddOp> {
  std::optional<IndexRange> getIndexRange(Operation *op, OpOperand &operand) const {
    auto scatter = cast<ScatterAddOp>(op);
    return operand.get() == scatter.getIndices() ? rowsOf(scatter.getResult()) : std::nullopt;
  }
};

/// Classes are the last dim of the logits.
template <class Op> struct ClassIndices : IndexingOpInterface::ExternalModel<ClassIndices<Op>, Op> {
  std::optional<IndexRange> getIndexRange(Operation *op, OpOperand &operand) const {
    auto loss = cast<Op>(op);
    if (operand.get() != loss.getTargets())
      return std::nullopt;
    int64_t classes = cast<RankedTensorType>(loss.getLogits().getType()).getShape().back();
    return IndexRange{classes, static_cast<int64_t>(loss.getIgnoreIndex())};
  }
};

} // namespace

void tg::attachIndexRanges(MLIRContext &context) {
  GatherOp::attachInterface<GatherIndices>(context);
  ScatterAddOp::attachInterface<ScatterIndices>(context);
  CrossEntropyOp::attachInterface<ClassIndices<CrossEntropyOp>>(context);
  CrossEntropyGradOp::attachInterface<ClassIndices<CrossEntropyGradOp>>(context);
}
