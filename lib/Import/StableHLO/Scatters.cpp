//===- Scatters.cpp - sums at positions -----------------------------------===//
//
// A scatter is a gradient of a gather, or x.at[i].add(y), and is one of the kinds that a gather is: rows of a table,
// elements of each row, or a part at a known position. An update out of bounds is left out.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/StableHLO/Combiners.h"
#include "lib/Import/StableHLO/Placement.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

/// Whether the updates replace elements.
static bool isReplacement(Operation *op) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock() || op->getRegion(0).getNumArguments() != 2)
    return false;
  Block &body = op->getRegion(0).front();
  return body.getOperations().size() == 1 && body.front().getNumOperands() == 1 &&
         body.front().getOperand(0) == body.getArgument(1);
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

/// Sums rows into a table. Rows at known positions that count up are a part of the table with zeros around. An update
/// out of bounds becomes 0.
static Values addRows(SourceOp &op, const Placement &place) {
  RowTable table = rowTableOf(op, place);
  SmallVector<int64_t> order = positionsFirst(place, op.shape(2).size()), shape;
  Value updates = op.transposed(op.tensor(2), order), sum;
  RankedTensorType type = tg::typeOf(updates);
  std::optional<Consecutive> part =
      place.indexMap.size() == 1 ? consecutiveRows(op, place, table.rows) : std::optional<Consecutive>();
  if (part) {
    shape.push_back(part->size);
    append_range(shape, table.row);
    sum = op.padZeros(op.reshape(updates, shape), 0, part->start, table.rows - part->start - part->size);
  } else {
    RowIndex row = rowIndexOf(op, place, table);
    if (row.isInside) {
      RankedTensorType truth = tg::withElement(type, op.builder.getI1Type());
      Value isInside = op.broadcast(row.isInside, truth, tg::dimRange(0, place.positions.size()));
      updates = op.select(isInside, updates, op.zeros(type));
    }
    shape.assign(place.positions);
    shape.push_back(table.width);
    sum = op.make<tg::ScatterAddOp>(tg::withShape(type, {table.rows, table.width}), row.index,
                                    op.reshape(updates, shape));
    shape.assign(table.dims);
    append_range(shape, table.row);
    sum = op.reshape(sum, shape);
  }
  return {addedTo(op, op.transposed(sum, table.back))};
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

/// Adds to several elements of each row.
static Values addSeveral(SourceOp &op, const SeveralElements &several) {
  int64_t last = op.shape(0).size() - 1;
  Pairs pairs = pairsOf(op, several);
  Value updates = op.transposed(op.tensor(2), several.order);
  updates = op.reshape(updates, pairs.type.getShape().drop_back());
  Value wide = op.broadcast(updates, pairs.type, tg::dimRange(0, last + 1));
  Value sum = op.sum(op.select(pairs.isPicked, wide, op.zeros(pairs.type)), {last});
  SmallVector<int64_t> back = tg::dimRange(0, last);
  back.insert(back.begin() + several.axis, last);
  return {addedTo(op, op.transposed(sum, back))};
}

/// Changes a part at a known position, or returns nothing for other positions or another change.
static std::optional<Values> changePart(SourceOp &op, const Placement &place) {
  SmallVector<int64_t> sizes;
  int64_t next = 0;
  for (int64_t dim = 0; dim < static_cast<int64_t>(op.shape(0).size()); ++dim) {
    bool isInserted = is_contained(place.collapsed, dim);
    if (!isInserted && next == static_cast<int64_t>(place.offsetDims.size()))
      return std::nullopt;
    sizes.push_back(isInserted ? 1 : op.shape(2)[place.offsetDims[next++]]);
  }
  std::optional<Integers> starts =
      areDims(place.offsetDims, op.shape(2).size()) ? knownStart(op, place, sizes) : std::nullopt;
  std::optional<Combiner> kind = combinerOf(op);
  bool fits = starts && op.operandType(2).getNumElements() == tg::withShape(op.resultType(), sizes).getNumElements();
  if (!fits || (kind ? !neutralOf(*kind, op.element()) : !isReplacement(op.op)))
    return std::nullopt;
  Value part = op.reshape(op.tensor(2), sizes);
  if (kind)
    part = combined(op, *kind, partOf(op, op.tensor(0), *starts, sizes), part);
  return Values{replaced(op, op.tensor(0), part, *starts)};
}

/// Whether the updates have a row of the table for each position.
static bool hasRows(SourceOp &op, const Placement &place) {
  int64_t rank = op.shape(0).size(), updateRank = op.shape(2).size();
  int64_t width = rank - place.indexMap.size();
  if (updateRank != static_cast<int64_t>(place.positions.size()) + width || !areDims(place.offsetDims, updateRank) ||
      static_cast<int64_t>(place.offsetDims.size()) != width)
    return false;
  SmallVector<int64_t> wanted(place.positions), found;
  for (int64_t dim : tg::otherDims(place.collapsed, rank))
    wanted.push_back(op.shape(0)[dim]);
  for (int64_t dim : positionsFirst(place, updateRank))
    found.push_back(op.shape(2)[dim]);
  return found == wanted;
}

Values braid::stablehlo::scatter(SourceOp &op) {
  std::optional<Placement> place = placementOfScatter(op);
  if (!place || op.operandType(0) != op.resultType() || op.operandType(2).getElementType() != op.element())
    return {op.fail("the dims do not fit the operands")};
  bool isSum = combinerOf(op) == Combiner::Add && op.isFloatResult(), isRows = areOfRows(*place) && hasRows(op, *place);
  if (isSum && isRows && place->indexMap.size() == 1)
    return addRows(op, *place);
  std::optional<PickedElements> picked = isSum ? pickedElements(op, *place) : std::nullopt;
  if (picked && op.operandType(2).getNumElements() == tg::typeOf(picked->index).getNumElements())
    return addElements(op, *picked);
  if (isSum && op.shape(2) == ArrayRef<int64_t>(place->positions))
    if (std::optional<SeveralElements> several = severalElements(op, *place))
      return addSeveral(op, *several);
  if (std::optional<Values> changed = changePart(op, *place))
    return *changed;
  if (isSum && isRows)
    return addRows(op, *place);
  return {op.fail("only sums of rows into a table, w.at[i].add(rows), and of elements into each row, the gradient of "
                  "jnp.take_along_axis, and changes at known positions, x.at[0].set(y), are supported")};
}
