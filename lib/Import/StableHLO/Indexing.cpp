//===- Indexing.cpp - gathers, parts at positions -------------------------===//
//
// A gather is one of two kinds here. Rows of a table: w[i]. One element of each row: x[..., i], where
// jnp.take_along_axis makes the other dims batching dims, and x[jnp.arange(n), i] spells them as positions.
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
  return op.reshape(op.sliced(table, 0, part->start, part->size), shape);
}

/// Rows along `axis` of a table, which lie in the result at the dims of the slices.
static Values rows(SourceOp &op, const Placement &place, int64_t axis) {
  int64_t rank = op.shape(0).size(), lead = place.positions.size();
  if (static_cast<int64_t>(place.offsetDims.size()) != rank - 1 || !areDims(place.offsetDims, lead + rank - 1))
    return {op.fail("the result has other dims than rows of the operand")};
  SmallVector<int64_t> first{axis};
  append_range(first, tg::otherDims({axis}, rank));
  Value table = op.transposed(op.tensor(0), first);
  Value picked = rowsInOrder(op, table, place);
  if (!picked)
    picked = op.make<tg::GatherOp>(
        table, moved(op, op.reshape(op.tensor(1), place.positions), tg::typeOf(table).getDimSize(0)));
  // The rows' dims are the last ones here.
  SmallVector<int64_t> order(lead + rank - 1);
  for (auto [number, dim] : enumerate(tg::otherDims(place.offsetDims, lead + rank - 1)))
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

static Values gather(SourceOp &op) {
  std::optional<Placement> place = placementOfGather(op);
  Integers sizes = op.integers("slice_sizes");
  int64_t rank = op.shape(0).size();
  if (!place || static_cast<int64_t>(sizes.size()) != rank || op.operandType(0).getElementType() != op.element())
    return {op.fail("the dims do not fit the operands")};
  int64_t axis = place->indexMap.front();
  bool isRows = areOfRows(*place);
  for (int64_t dim = 0; dim < rank; ++dim)
    isRows &= sizes[dim] == (dim == axis ? 1 : op.shape(0)[dim]);
  if (isRows)
    return rows(op, *place, axis);
  bool isElements = all_of(sizes, [](int64_t size) { return size == 1; });
  std::optional<PickedElements> picked = isElements ? pickedElements(op, *place) : std::nullopt;
  if (picked && op.resultType().getNumElements() == tg::typeOf(picked->index).getNumElements())
    return {pick(op, *picked)};
  return {op.fail("only rows of a table (w[i]), or one element of each row (jnp.take_along_axis), are gathered; pick "
                  "several one by one")};
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
  Value a = op.tensor(0);
  for (auto [dim, start] : enumerate(*starts))
    a = op.sliced(a, dim, start, sizes[dim]);
  return {a};
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

/// Replaces a part along one dim, as lax.scan does to collect its results.
static Values dynamicUpdate(SourceOp &op) {
  ArrayRef<int64_t> shape = op.shape(0), part = op.shape(1);
  if (op.operandType(0) != op.resultType() || op.operandType(1).getElementType() != op.element())
    return {op.fail("operands have different types")};
  std::optional<Integers> starts = startsOf(op, 2, part);
  if (!starts)
    return {};
  SmallVector<int64_t> smaller;
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
    if (part[dim] != shape[dim])
      smaller.push_back(dim);
  if (smaller.size() > 1)
    return {op.fail("only parts along one dim are replaced")};
  if (smaller.empty())
    return {op.tensor(1)};
  int64_t dim = smaller.front(), start = (*starts)[dim], end = start + part[dim];
  Values parts;
  if (start > 0)
    parts.push_back(op.sliced(op.tensor(0), dim, 0, start));
  parts.push_back(op.tensor(1));
  if (end < shape[dim])
    parts.push_back(op.sliced(op.tensor(0), dim, end, shape[dim] - end));
  return {op.make<tg::ConcatOp>(parts, dim)};
}

static constexpr OpRow kIndexingRows[] = {
    {"stablehlo.gather", 2, "dimension_numbers:E slice_sizes:L", gather, nullptr,
     "tg.gather; tg.slice for positions; a sum for one element of each row", "indices_are_sorted"},
    {"stablehlo.scatter", 3, "scatter_dimension_numbers:E", scatter, nullptr,
     "tg.scatter_add; tg.pad for positions; a choice for one element of each row", "indices_are_sorted unique_indices"},
    {"stablehlo.dynamic_slice", -1, "slice_sizes:L", dynamicSlice, evaluateDynamicSlice, "tg.slice at known positions",
     "", true},
    {"stablehlo.dynamic_update_slice", -2, "", dynamicUpdate, nullptr, "tg.concat at known positions"},
};

ArrayRef<OpRow> braid::stablehlo::indexingRows() { return kIndexingRows; }
