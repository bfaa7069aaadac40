//===- TGInferExperts.cpp - result types of mixture-of-experts ops --------===//
//
// Every message names the two shapes (or numbers) that disagree.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TG.h"
#include "dialects/TG/TGBuilder.h"

using namespace mlir;
using namespace braid::tg;

namespace {
using Loc = std::optional<Location>;
using Types = SmallVectorImpl<Type>;

RankedTensorType integers(MLIRContext *context, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, IntegerType::get(context, 32));
}

/// Rows, tokens per row and choices per token; experts, and slots per row and expert.
struct Sizes {
  int64_t rows, tokens, choices, experts, capacity;
};
} // namespace

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType input = typeOf(adaptor.getInput());
  int64_t k = adaptor.getK();
  if (input.getRank() == 0 || k < 1 || k > input.getShape().back())
    return emitOptionalError(loc, "k must be at least 1 and at most the lanes of ", input, ", found ", k);
  SmallVector<int64_t> shape(input.getShape());
  shape.back() = k;
  types.append({RankedTensorType::get(shape, input.getElementType()), integers(context, shape)});
  return success();
}

LogicalResult ExpertSlotsOp::inferReturnTypes(MLIRContext *context, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType chosen = typeOf(adaptor.getChosen());
  int64_t capacity = adaptor.getCapacity(), experts = adaptor.getExperts();
  if (chosen.getRank() != 3)
    return emitOptionalError(loc, "choices must be rows x tokens x choices of a token, found ", chosen);
  if (capacity < 1 || capacity > chosen.getDimSize(1))
    return emitOptionalError(loc, "capacity must be at least 1 and at most the tokens of a row, ", chosen.getDimSize(1),
                             ", found ", capacity);
  if (Value present = adaptor.getPresent(); present && typeOf(present).getShape() != chosen.getShape().drop_back())
    return emitOptionalError(loc, "'present' must have a number for each token of ", chosen, ", found ",
                             present.getType());
  if (std::optional<int64_t> bound = adaptor.getBound(); bound && (!adaptor.getPresent() || *bound < 1))
    return emitOptionalError(loc, "'bound' must be at least 1, and needs 'present' to tell documents apart, found ",
                             *bound, adaptor.getPresent() ? "" : " without it");
  constexpr int64_t maxSlots = std::numeric_limits<int32_t>::max();
  if (experts < 1 || experts > maxSlots / capacity / chosen.getDimSize(0))
    return emitOptionalError(loc, "experts must be at least 1, and their slots of all rows at most ", maxSlots,
                             ", found ", experts, " experts with ", capacity, " slots for each row of ", chosen);
  types.append({integers(context, chosen.getShape()), integers(context, {experts, chosen.getDimSize(0), capacity})});
  return success();
}

/// Returns the sizes of slots and choices; fails if the two disagree.
static FailureOr<Sizes> sizesOf(Loc loc, Value slots, Value choices) {
  RankedTensorType slot = typeOf(slots), choice = typeOf(choices);
  if (slot.getRank() != 3 || choice.getRank() != 3 || slot.getDimSize(0) != choice.getDimSize(1))
    return emitOptionalError(loc, "slots ", slot, " (rows x tokens x choices) and choices ", choice,
                             " (experts x rows x slots) do not fit together as results of one tg.expert_slots");
  return Sizes{slot.getDimSize(0), slot.getDimSize(1), slot.getDimSize(2), choice.getDimSize(0), choice.getDimSize(2)};
}

LogicalResult DispatchOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType input = typeOf(adaptor.getInput());
  FailureOr<Sizes> sizes = sizesOf(loc, adaptor.getSlots(), adaptor.getChoices());
  if (failed(sizes))
    return failure();
  if (input.getRank() != 3 || input.getDimSize(0) != sizes->rows || input.getDimSize(1) != sizes->tokens)
    return emitOptionalError(loc, "operand must be ", sizes->rows, " rows x ", sizes->tokens,
                             " tokens x width, as the slots are, found ", input);
  types.push_back(RankedTensorType::get({sizes->experts, sizes->rows, sizes->capacity, input.getDimSize(2)},
                                        input.getElementType()));
  return success();
}

LogicalResult CollectOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType input = typeOf(adaptor.getInput());
  FailureOr<Sizes> sizes = sizesOf(loc, adaptor.getSlots(), adaptor.getChoices());
  if (failed(sizes))
    return failure();
  if (input.getRank() != 4 || input.getShape().drop_back() != typeOf(adaptor.getChoices()).getShape())
    return emitOptionalError(loc, "operand must be ", sizes->experts, " experts x ", sizes->rows, " rows x ",
                             sizes->capacity, " slots x width, as the choices are, found ", input);
  types.push_back(
      RankedTensorType::get({sizes->rows, sizes->tokens, sizes->choices, input.getDimSize(3)}, input.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Losses of routers
//===----------------------------------------------------------------------===//

static LogicalResult verifyScalar(Operation *op, OperandRange floats, Value present) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (floats.empty())
    return op->emitOpError() << "needs the operands of at least one layer";
  RankedTensorType first = typeOf(floats.front());
  for (Value other : floats)
    if (other.getType() != first)
      return op->emitOpError() << "layers must have one type, found " << first << " and " << other.getType();
  if (first.getRank() < 2 || result.getRank() != 0 || result.getElementType() != first.getElementType())
    return op->emitOpError() << "needs rows x lanes and a scalar result, found " << first << " and " << result;
  if (present && typeOf(present).getShape() != first.getShape().drop_back())
    return op->emitOpError() << "'present' must have a number for each row of " << first << ", found "
                             << present.getType();
  return success();
}

LogicalResult LoadBalanceOp::verify() {
  if (failed(verifyScalar(*this, getProbabilities(), getPresent())))
    return failure();
  RankedTensorType first = typeOf(getProbabilities().front());
  for (Value chosen : getChosen()) {
    RankedTensorType type = typeOf(chosen);
    if (type.getRank() != first.getRank() || type.getShape().drop_back() != first.getShape().drop_back() ||
        type != getChosen().front().getType())
      return emitOpError() << "choices " << type << " do not fit probabilities " << first
                           << ": only the last dim may differ, and is the same in all layers";
  }
  return success();
}

LogicalResult RouterZOp::verify() { return verifyScalar(*this, getLogits(), getPresent()); }
