//===- TGIndices.cpp - tg ops that use integers as indices ----------------===//

#include "dialects/TG/TGIndices.h"
#include "dialects/Interfaces/Indexing.h"
#include "dialects/TG/TG.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

namespace {

/// Returns the index range of the rows of `table`.
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

/// Classes index the last dim of the logits.
template <class Op> struct ClassIndices : IndexingOpInterface::ExternalModel<ClassIndices<Op>, Op> {
  std::optional<IndexRange> getIndexRange(Operation *op, OpOperand &operand) const {
    auto loss = cast<Op>(op);
    if (operand.get() != loss.getTargets())
      return std::nullopt;
    int64_t classes = cast<RankedTensorType>(loss.getLogits().getType()).getShape().back();
    return IndexRange{classes, static_cast<int64_t>(loss.getIgnoreIndex())};
  }
};

struct ChosenExperts : IndexingOpInterface::ExternalModel<ChosenExperts, ExpertSlotsOp> {
  std::optional<IndexRange> getIndexRange(Operation *op, OpOperand &operand) const {
    auto slots = cast<ExpertSlotsOp>(op);
    if (operand.get() != slots.getChosen())
      return std::nullopt;
    return IndexRange{static_cast<int64_t>(slots.getExperts())};
  }
};

/// -1 means no choice.
struct DispatchedChoices : IndexingOpInterface::ExternalModel<DispatchedChoices, DispatchOp> {
  std::optional<IndexRange> getIndexRange(Operation *op, OpOperand &operand) const {
    auto dispatch = cast<DispatchOp>(op);
    if (operand.get() != dispatch.getChoices())
      return std::nullopt;
    ArrayRef<int64_t> slots = dispatch.getSlots().getType().getShape();
    return IndexRange{slots[1] * slots[2], -1};
  }
};

struct CollectedSlots : IndexingOpInterface::ExternalModel<CollectedSlots, CollectOp> {
  std::optional<IndexRange> getIndexRange(Operation *op, OpOperand &operand) const {
    auto collect = cast<CollectOp>(op);
    if (operand.get() != collect.getSlots())
      return std::nullopt;
    ArrayRef<int64_t> choices = collect.getChoices().getType().getShape();
    return IndexRange{choices[0] * choices[2], -1};
  }
};

} // namespace

void tg::attachIndexRanges(MLIRContext &context) {
  GatherOp::attachInterface<GatherIndices>(context);
  ScatterAddOp::attachInterface<ScatterIndices>(context);
  ExpertSlotsOp::attachInterface<ChosenExperts>(context);
  DispatchOp::attachInterface<DispatchedChoices>(context);
  CollectOp::attachInterface<CollectedSlots>(context);
  CrossEntropyOp::attachInterface<ClassIndices<CrossEntropyOp>>(context);
  CrossEntropyGradOp::attachInterface<ClassIndices<CrossEntropyGradOp>>(context);
}
