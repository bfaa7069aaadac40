//===- FindRings.cpp - ops that can become rings --------------------------===//
//
// A ring is made of an op whose keys are gathered and whose results are scattered again or read only by its own
// rank. The blocks of the keys may be reordered after the gather.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Zigzag.h"
#include "dialects/TG/TGBuilder.h"
#include "passes/Collectives/Rings.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// Upper limit of ranks: a ring of n ranks has n ops, and each of their messages names n pairs of ranks.
static constexpr int64_t kMaxRanks = 512;

RingOp::RingOp(BlockwiseOpInterface op)
    : op(op), isCausal(op.isCausal()), attendsToAllEarlier(op.attendsToAllEarlier()) {
  if (auto number = op->getAttrOfType<IntegerAttr>(kHalf))
    half = number.getInt();
}

/// Follows the conversions of a value to the type in which it is read.
static Value converted(Value value) {
  while (value.hasOneUse() && isConversion(*value.getUsers().begin()))
    value = value.getUsers().begin()->getResult(0);
  return value;
}

/// Returns the only reader of a value if it is an `Op`, else null.
template <typename Op> static Op readerOf(Value value) {
  return value.hasOneUse() ? dyn_cast<Op>(*value.getUsers().begin()) : Op();
}

/// Returns whether an op, which may be null, puts the blocks of `dim` into this order.
static bool reordersBlocksTo(tg::ReorderOp op, unsigned dim, ArrayRef<int64_t> order) {
  return op && op.getDim() == dim && op.getOrder() == order;
}

/// Returns the op that scatters the sum of a result over ranks and over the halves of queries.
ReduceScatterOp RingFinder::scatterOf(const Ring &ring, unsigned number, unsigned dim) {
  Value sum = converted(op->getResult(number));
  if (ops.size() > 1) {
    auto add = readerOf<arith::AddFOp>(sum);
    if (!add || readerOf<arith::AddFOp>(converted(ops.back().op->getResult(number))) != add)
      return {};
    sum = converted(add);
  }
  if (ring.inZigzag) {
    auto reorder = readerOf<tg::ReorderOp>(sum);
    if (!reordersBlocksTo(reorder, dim, zigzag->heldOrder(ring.axes, mesh)))
      return {};
    sum = converted(reorder);
  }
  auto scatter = readerOf<ReduceScatterOp>(sum);
  bool fits = scatter && scatter.getKind() == Reduction::Sum && scatter.getIns().size() == 1 &&
              scatter.getDims()[0] == int64_t(dim) && scatter.getAxes() == ring.axes;
  return fits ? scatter : ReduceScatterOp();
}

/// Returns the all_gather of a value, and whether its blocks are reordered after it.
RingFinder::Gathered RingFinder::gathered(Value value, unsigned dim) {
  auto reorder = value.getDefiningOp<tg::ReorderOp>();
  if (!reorder || !zigzag)
    return {value.getDefiningOp<AllGatherOp>(), false};
  auto gather = reorder.getInput().getDefiningOp<AllGatherOp>();
  bool isOrdered = gather && zigzag->shards(gather.getAxes()) &&
                   reordersBlocksTo(reorder, dim, zigzag->placesInHeldOrder(gather.getAxes(), mesh));
  return {isOrdered ? gather : AllGatherOp(), true};
}

/// Returns the all_gather that a value comes from, through conversions and, if allowed, reordering.
static AllGatherOp gatherOf(Value value, bool mayBeReordered) {
  auto passes = [&](Operation *op) {
    return (mayBeReordered && isa<tg::ReorderOp>(op)) ||
           (numericKindOf(op) == NumericKind::Conversion && op->getNumOperands() == 1);
  };
  Operation *op = value.getDefiningOp();
  while (op && passes(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<AllGatherOp>(op);
}

/// Checks ops without a ring: fails if an op reads gathered floats of other ranks along its axes.
FailureOr<std::optional<Ring>> RingFinder::checkGathersNothing() {
  for (const RingOp &member : ops)
    for (OpOperand &operand : member.op->getOpOperands()) {
      AllGatherOp gather = gatherOf(operand.get(), zigzag.has_value());
      if (gather && isa<FloatType>(getElementTypeOrSelf(operand.get())) &&
          llvm::any_of(axes.getNames(), [&](StringAttr axis) { return gather.getAxes().contains(axis); }))
        return op.emitError() << op->getName() << " cannot be a ring over " << axes.str() << ": its operand #"
                              << operand.getOperandNumber() << " is gathered over " << gather.getAxes().str()
                              << ", but the operands that go around the ring are not";
    }
  return std::optional<Ring>();
}

bool RingFinder::isAlongRing(AllGatherOp gather, unsigned dim) {
  return gather && gather.getIns().size() == 1 && gather.getDims()[0] == int64_t(dim) &&
         llvm::all_of(axes.getNames(), [&](StringAttr axis) { return gather.getAxes().contains(axis); });
}

LogicalResult RingFinder::check(const Ring &ring) {
  if (ring.ranks > kMaxRanks)
    return op.emitError() << op->getName() << " is computed by " << ring.ranks << " ranks along " << ring.axes.str()
                          << ", but a ring has " << kMaxRanks << " at most, because each of its steps is an op of the "
                          << "program";
  bool isHalf = llvm::any_of(ops, [](const RingOp &member) { return member.half.has_value(); });
  if (!ring.inZigzag && !isHalf)
    return success();
  if (!ring.inZigzag)
    return op.emitError() << op->getName() << " cannot be a ring over " << ring.axes.str()
                          << ": its queries are in zigzag, but the operands that go around the ring are in order; "
                          << kInOrderAdvice;
  if (ring.axes.size() > 1)
    return op.emitError() << op->getName() << " cannot be a ring in zigzag over " << ring.axes.str()
                          << ": positions are in zigzag along '" << zigzag->axis.getValue() << "' alone; "
                          << kInOrderAdvice;
  for (const RingOp &member : ops)
    if (member.isCausal && !member.half)
      return op.emitError() << op->getName() << " cannot be a ring in zigzag over " << ring.axes.str()
                            << ": its queries are not one half of the queries of a rank; " << kInOrderAdvice;
  return success();
}

FailureOr<std::optional<Ring>> RingFinder::find() {
  Ring ring = {};
  for (auto [number, dim] : dims.operands) {
    auto [gather, inZigzag] = gathered(op->getOperand(number), dim);
    bool isShared = llvm::all_of(ops, [&, number = number](const RingOp &member) {
      return member.op->getOperand(number) == op->getOperand(number);
    });
    if (!isShared || !isAlongRing(gather, dim) ||
        (ring.axes && (ring.axes != gather.getAxes() || ring.inZigzag != inZigzag)))
      return checkGathersNothing();
    ring.mesh = gather.getMeshAttr();
    ring.axes = gather.getAxes();
    ring.inZigzag = inZigzag;
    ring.own.push_back(gather.getIns().front());
    ring.positions = tg::typeOf(ring.own.back()).getDimSize(dim);
  }
  if (!ring.axes)
    return std::optional<Ring>();
  ring.ranks = mesh.sizeOf(ring.axes);
  if (failed(check(ring)))
    return failure();
  for (auto [number, dim] : dims.results) {
    ring.scatters.push_back(scatterOf(ring, number, dim));
    bool isRead = llvm::any_of(
        ops, [&, number = number](const RingOp &member) { return !member.op->getResult(number).use_empty(); });
    if (!ring.scatters.back() && isRead)
      return op.emitError() << op->getName() << " cannot be a ring over " << ring.axes.str() << ": its result #"
                            << number << " is not only summed over these ranks and scattered along dim " << dim;
  }
  return std::optional<Ring>(std::move(ring));
}
