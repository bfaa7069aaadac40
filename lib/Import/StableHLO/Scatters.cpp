//===- Scatters.cpp - sums at positions -----------------------------------===//
//
// A scatter is a gradient of a gather, or x.at[i].add(y), and is one of the two kinds that a gather is: rows of a
// table, or one element of each row. An update out of bounds is left out.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/StableHLO/Placement.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

/// Whether the updates are added.
static bool isSum(Operation *op) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return false;
  Block &body = op->getRegion(0).front();
  return body.getOperations().size() == 2 && body.front().getName().getStringRef() == "stablehlo.add" &&
         equal(body.front().getOperands(), body.getArguments()) &&
         equal(body.back().getOperands(), body.front().getResults());
}

/// Adds to the first operand, unless it is known to be 0.
static Value addedTo(SourceOp &op, Value sum) {
  bool isZero = op.known(0) && op.known(0)->splat() == 0.0;
  return isZero ? sum : op.add(op.tensor(0), sum);
}

/// Permutation that moves the rows' dims behind the positions' in the updates.
static SmallVector<int64_t> positionsFirst(const Placement &place, int64_t rank) {
  SmallVector<int64_t> order = tg::otherDims(place.offsetDims, rank);
  append_range(order, place.offsetDims);
  return order;
}

/// Replaces the updates at positions out of bounds by 0; returns the positions, which are then in bounds.
static Value boundedRows(SourceOp &op, const Placement &place, int64_t rows, Value &updates) {
  Value index = op.reshape(op.tensor(1), place.positions), row = moved(op, index, rows);
  if (row == index)
    return row;
  RankedTensorType truth = tg::withElement(tg::typeOf(updates), op.builder.getI1Type());
  Value isInside =
      op.broadcast(op.compare(arith::CmpIPredicate::eq, row, index), truth, tg::dimRange(0, place.positions.size()));
  updates = op.select(isInside, updates, op.zeros(tg::typeOf(updates)));
  return row;
}

/// Sums rows along an axis of a table. Rows at known positions that count up are a part of the table with zeros around.
static Values addRows(SourceOp &op, const Placement &place) {
  int64_t axis = place.indexMap.front(), rank = op.shape(0).size(), rows = op.shape(0)[axis];
  SmallVector<int64_t> first{axis}, order = positionsFirst(place, op.shape(2).size());
  append_range(first, tg::otherDims({axis}, rank));
  Value updates = op.transposed(op.tensor(2), order), sum;
  RankedTensorType table = tg::typeOf(updates);
  SmallVector<int64_t> shape{rows};
  append_range(shape, table.getShape().drop_front(place.positions.size()));
  if (std::optional<Consecutive> part = consecutiveRows(op, place, rows)) {
    shape[0] = part->size;
    sum = op.reshape(updates, shape);
    if (part->size != rows)
      sum = op.make<tg::PadOp>(sum, 0, part->start, rows - part->start - part->size, APFloat(0.0));
  } else {
    Value row = boundedRows(op, place, rows, updates);
    sum = op.make<tg::ScatterAddOp>(tg::withShape(table, shape), row, updates);
  }
  SmallVector<int64_t> back(rank);
  for (auto [number, dim] : enumerate(first))
    back[dim] = number;
  return {addedTo(op, op.transposed(sum, back))};
}

/// Adds to one element of each row.
static Values addElements(SourceOp &op, const PickedElements &picked) {
  RankedTensorType type = op.resultType();
  SmallVector<int64_t> others = tg::otherDims({picked.axis}, type.getRank()), rows;
  for (int64_t dim : others)
    rows.push_back(type.getDimSize(dim));
  Value wide = op.broadcast(op.reshape(op.tensor(2), rows), type, others);
  return {addedTo(op, op.select(isPicked(op, picked, type), wide, op.zeros(type)))};
}

/// Whether the updates have a row of the table for each position.
static bool hasRows(SourceOp &op, const Placement &place) {
  int64_t rank = op.shape(0).size(), updateRank = op.shape(2).size();
  if (updateRank != static_cast<int64_t>(place.positions.size()) + rank - 1 || !areDims(place.offsetDims, updateRank) ||
      static_cast<int64_t>(place.offsetDims.size()) != rank - 1)
    return false;
  SmallVector<int64_t> wanted(place.positions), found;
  for (int64_t dim : tg::otherDims({place.indexMap.front()}, rank))
    wanted.push_back(op.shape(0)[dim]);
  for (int64_t dim : positionsFirst(place, updateRank))
    found.push_back(op.shape(2)[dim]);
  return found == wanted;
}

Values braid::stablehlo::scatter(SourceOp &op) {
  std::optional<Placement> place = placementOfScatter(op);
  if (!place || op.operandType(0) != op.resultType() || !op.isFloatResult() ||
      op.operandType(2).getElementType() != op.element())
    return {op.fail("the dims do not fit the operands")};
  if (isSum(op.op) && areOfRows(*place) && hasRows(op, *place))
    return addRows(op, *place);
  std::optional<PickedElements> picked = isSum(op.op) ? pickedElements(op, *place) : std::nullopt;
  if (picked && op.operandType(2).getNumElements() == tg::typeOf(picked->index).getNumElements())
    return addElements(op, *picked);
  return {
      op.fail("only sums of rows into a table, w.at[i].add(rows), and of one element into each row, the gradient of "
              "jnp.take_along_axis, are supported")};
}
