//===- Indexing.cpp - gathers, parts at positions -------------------------===//
//
// A gather is one of three kinds here. Rows of a table: w[i], or w[i, j], where both dims become one. Elements of each
// row: x[..., i], where jnp.take_along_axis makes the other dims batching dims, and x[jnp.arange(n), i] spells them as
// positions. A part at a known position.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/StableHLO/Placement.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

//===----------------------------------------------------------------------===//
// Rows of a table
//===----------------------------------------------------------------------===//

/// Rows at known positions that count up are a slice of the table. Returns null for other positions.
static Value rowsInOrder(SourceOp &op, Value table, const Placement &place) {
  std::optional<Consecutive> part = consecutiveRows(op, place, tg::typeOf(table).getDimSize(0));
  if (!part)
    return {};
  SmallVector<int64_t> shape(place.positions);
  append_range(shape, tg::typeOf(table).getShape().drop_front());
  return op.reshape(sliced(op, table, 0, part->start, part->size), shape);
}

/// Rows of a table, which lie in the result at the dims of the slices.
static Values rows(SourceOp &op, const Placement &place) {
  int64_t lead = place.positions.size(), rank = lead + op.shape(0).size() - place.indexMap.size();
  if (static_cast<int64_t>(place.offsetDims.size()) != rank - lead || !areDims(place.offsetDims, rank))
    return {op.fail("the result has other dims than rows of the operand")};
  RowTable table = rowTableOf(op, place);
  Value all = op.transposed(op.tensor(0), table.order);
  Value picked = place.indexMap.size() == 1 ? rowsInOrder(op, all, place) : Value();
  if (!picked) {
    SmallVector<int64_t> shape(place.positions);
    append_range(shape, table.row);
    Value flat = op.reshape(all, {table.rows, table.width});
    picked = op.reshape(op.make<tg::GatherOp>(flat, rowIndexOf(op, place, table).index), shape);
  }
  // The rows' dims are the last ones here.
  SmallVector<int64_t> order(rank);
  for (auto [number, dim] : enumerate(tg::otherDims(place.offsetDims, rank)))
    order[dim] = number;
  for (auto [number, dim] : enumerate(place.offsetDims))
    order[dim] = lead + number;
  return {op.transposed(picked, order)};
}

//===----------------------------------------------------------------------===//
// An element of each row
//===----------------------------------------------------------------------===//

/// Picks an element of each row: the only one of the row that is not replaced by 0, in a sum.
static Value pick(SourceOp &op, PickedElements picked) {
  RankedTensorType type = op.operandType(0);
  picked.index = moved(op, picked.index, type.getDimSize(picked.axis));
  Value chosen = op.select(isPicked(op, picked, type), op.tensor(0), op.zeros(type));
  return op.reshape(op.sum(chosen, {picked.axis}), op.resultShape());
}

/// Picks several elements of each row.
static Value pickSeveral(SourceOp &op, SeveralElements several) {
  int64_t last = op.shape(0).size() - 1;
  SmallVector<int64_t> axisLast = tg::otherDims({several.axis}, last + 1), lanes = tg::dimRange(0, last), shape;
  axisLast.push_back(several.axis);
  lanes.push_back(last + 1);
  several.index = moved(op, several.index, op.shape(0)[several.axis]);
  Pairs pairs = pairsOf(op, several);
  Value wide = op.broadcast(op.transposed(op.tensor(0), axisLast), pairs.type, lanes);
  Value sum = op.sum(op.select(pairs.isPicked, wide, op.zeros(pairs.type)), {last + 1});
  SmallVector<int64_t> back(several.order.size());
  for (auto [number, dim] : enumerate(several.order)) {
    shape.push_back(op.resultShape()[dim]);
    back[dim] = number;
  }
  return op.transposed(op.reshape(sum, shape), back);
}

static Values gather(SourceOp &op) {
  std::optional<Placement> place = placementOfGather(op);
  Integers sizes = op.integers("slice_sizes");
  int64_t rank = op.shape(0).size();
  if (!place || static_cast<int64_t>(sizes.size()) != rank || op.operandType(0).getElementType() != op.element())
    return {op.fail("the dims do not fit the operands")};
  bool isRows = areOfRows(*place);
  for (int64_t dim = 0; dim < rank; ++dim)
    isRows &= sizes[dim] == (is_contained(place->indexMap, dim) ? 1 : op.shape(0)[dim]);
  if (isRows && place->indexMap.size() == 1)
    return rows(op, *place);
  bool isElements = all_of(sizes, [](int64_t size) { return size == 1; });
  std::optional<PickedElements> picked = isElements ? pickedElements(op, *place) : std::nullopt;
  if (picked && op.resultType().getNumElements() == tg::typeOf(picked->index).getNumElements())
    return {pick(op, *picked)};
  if (isElements && op.resultShape() == ArrayRef<int64_t>(place->positions))
    if (std::optional<SeveralElements> several = severalElements(op, *place))
      return {pickSeveral(op, *several)};
  std::optional<Integers> starts = knownStart(op, *place, sizes);
  if (starts && op.resultType().getNumElements() == tg::withShape(op.resultType(), sizes).getNumElements())
    return {op.reshape(partOf(op, op.tensor(0), *starts, sizes), op.resultShape())};
  if (isRows)
    return rows(op, *place);
  return {
      op.fail("only rows of a table (w[i], w[i, j]), elements of each row (jnp.take_along_axis), and parts at known "
              "positions are gathered")};
}

//===----------------------------------------------------------------------===//
// Parts at positions
//===----------------------------------------------------------------------===//

/// Returns the known start of each dim, moved so that the part lies in the tensor; nothing after an error.
static std::optional<Integers> startsOf(SourceOp &op, unsigned firstStart, ArrayRef<int64_t> sizes) {
  ArrayRef<int64_t> shape = op.shape(0);
  Integers starts;
  for (unsigned i = firstStart; i < op.numOperands(); ++i) {
    std::optional<double> start = op.known(i) ? op.known(i)->splat() : std::nullopt;
    size_t dim = i - firstStart;
    if (!start || dim >= shape.size() || sizes.size() != shape.size() || sizes[dim] < 0 || sizes[dim] > shape[dim]) {
      op.fail("a position depends on values, or the part does not fit; positions must be known, such as the step of "
              "lax.scan");
      return std::nullopt;
    }
    starts.push_back(std::clamp<int64_t>(static_cast<int64_t>(*start), 0, shape[dim] - sizes[dim]));
  }
  if (starts.size() == shape.size())
    return starts;
  op.fail("has " + Twine(starts.size()) + " positions for " + Twine(shape.size()) + " dims");
  return std::nullopt;
}

static Values dynamicSlice(SourceOp &op) {
  Integers sizes = op.integers("slice_sizes");
  std::optional<Integers> starts = startsOf(op, 1, sizes);
  if (!starts)
    return {};
  return {partOf(op, op.tensor(0), *starts, sizes)};
}
static MaybeKnown evaluateDynamicSlice(SourceOp &op) {
  MaybeKnown a = op.known(0);
  Integers sizes = op.integers("slice_sizes");
  std::optional<Integers> starts = a ? startsOf(op, 1, sizes) : std::nullopt;
  if (!starts)
    return std::nullopt;
  for (auto [dim, start] : enumerate(*starts))
    a = known::slice(*a, dim, start, sizes[dim], 1);
  return a;
}

/// Replaces a part, as lax.scan does to collect its results.
static Values dynamicUpdate(SourceOp &op) {
  if (op.operandType(0) != op.resultType() || op.operandType(1).getElementType() != op.element())
    return {op.fail("operands have different types")};
  std::optional<Integers> starts = startsOf(op, 2, op.shape(1));
  return starts ? Values{replaced(op, op.tensor(0), op.tensor(1), *starts)} : Values{};
}

static constexpr OpRow kIndexingRows[] = {
    {"stablehlo.gather", 2, "dimension_numbers:E slice_sizes:L", gather, nullptr,
     "tg.gather; tg.slice for known positions; a sum for elements of each row", "indices_are_sorted"},
    {"stablehlo.scatter", 3, "scatter_dimension_numbers:E", scatter, nullptr,
     "tg.scatter_add; tg.pad and tg.concat for known positions; a choice for elements of each row",
     "indices_are_sorted unique_indices"},
    {"stablehlo.dynamic_slice", -1, "slice_sizes:L", dynamicSlice, evaluateDynamicSlice, "tg.slice at known positions",
     "", true},
    {"stablehlo.dynamic_update_slice", -2, "", dynamicUpdate, nullptr, "tg.concat at known positions"},
};

ArrayRef<OpRow> braid::stablehlo::indexingRows() { return kIndexingRows; }
