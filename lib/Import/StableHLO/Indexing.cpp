//===- Indexing.cpp - gathers, scatters, parts at positions ---------------===//
//
// A gather is one of two kinds here. Rows of a table: w[i]. One element of each row: x[..., i], where
// jnp.take_along_axis makes the other dims batching dims, and x[jnp.arange(n), i] spells them as positions.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/StableHLO/Translator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

namespace {
/// Dims of a gather or a scatter.
struct Placement {
  /// Dims of the result (or of updates) that lie in the slices.
  Integers offsetDims;
  Integers collapsed, operandBatching, indexBatching, indexMap;
  int64_t indexDim = 0;
  /// Shape of the indices without `indexDim`.
  Shape positions;
};
} // namespace

/// Checks that each dim is one of a tensor of `rank`, in increasing order.
static bool areDims(ArrayRef<int64_t> dims, int64_t rank) {
  return all_of(dims, [&](int64_t dim) { return dim >= 0 && dim < rank; }) && is_sorted(dims) &&
         std::adjacent_find(dims.begin(), dims.end()) == dims.end();
}

/// Reads the dims of a gather or a scatter, or returns nothing if they do not fit the operands.
static std::optional<Placement> placementOf(SourceOp &op, StringRef attribute, StringRef kind, StringRef offsets,
                                            StringRef inserted, StringRef batching, StringRef indexBatching,
                                            StringRef map) {
  std::optional<Fields> fields = Fields::parse(op.attribute(attribute), kind);
  if (!fields)
    return std::nullopt;
  Placement result{fields->list(offsets),       fields->list(inserted), fields->list(batching),
                   fields->list(indexBatching), fields->list(map),      fields->number("index_vector_dim", 0),
                   Shape(op.shape(1))};
  int64_t rank = op.shape(0).size(), indexRank = op.shape(1).size();
  if (!areDims(result.collapsed, rank) || !areDims(result.operandBatching, rank) || result.indexMap.empty() ||
      !all_of(result.indexMap, [&](int64_t dim) { return dim >= 0 && dim < rank; }) || result.indexDim < 0 ||
      result.indexDim > indexRank)
    return std::nullopt;
  int64_t width = result.indexDim == indexRank ? 1 : op.shape(1)[result.indexDim];
  if (width != static_cast<int64_t>(result.indexMap.size()))
    return std::nullopt;
  if (result.indexDim < indexRank)
    result.positions.erase(result.positions.begin() + result.indexDim);
  if (!areDims(result.indexBatching, result.positions.size()) ||
      result.indexBatching.size() != result.operandBatching.size())
    return std::nullopt;
  return result;
}

static bool isInteger(SourceOp &op, unsigned operand) { return op.operandType(operand).getElementType().isInteger(32); }

/// Returns a computed index, moved into [0, size) as a gather does it. Indices that are an input are checked when data
/// are read.
static Value moved(SourceOp &op, Value index, int64_t size) {
  Value source = index;
  while (auto reshape = source.getDefiningOp<tg::ReshapeOp>())
    source = reshape.getInput();
  if (isa<BlockArgument>(source))
    return index;
  return op.make<arith::MinSIOp>(op.make<arith::MaxSIOp>(index, op.constantLike(index, 0)),
                                 op.constantLike(index, static_cast<double>(size - 1)));
}

//===----------------------------------------------------------------------===//
// Rows of a table
//===----------------------------------------------------------------------===//

/// Rows at known positions that count up are a slice of the table. Returns null for other positions.
static Value rowsInOrder(SourceOp &op, Value table, const Placement &place) {
  const MaybeKnown &given = op.known(1);
  MaybeKnown positions = given ? known::reshape(*given, place.positions) : std::nullopt;
  const Affine *affine = positions ? positions->affine() : nullptr;
  if (!affine || positions->shape.size() > 1)
    return {};
  int64_t size = positions->shape.empty() ? 1 : positions->shape[0], rows = tg::typeOf(table).getDimSize(0);
  bool countsUp = size == 1 || (!affine->factors.empty() && affine->factors[0] == 1);
  if (!countsUp || affine->constant < 0 || affine->constant + size > rows)
    return {};
  SmallVector<int64_t> shape(place.positions);
  append_range(shape, tg::typeOf(table).getShape().drop_front());
  return op.reshape(op.sliced(table, 0, affine->constant, size), shape);
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

/// Picks the element at `index`, a tensor of all dims but `axis`, of each row along `axis`: the only one of the row
/// that is not replaced by 0, in a sum.
static Value picked(SourceOp &op, Value a, Value index, int64_t axis) {
  RankedTensorType type = tg::typeOf(a), integers = tg::withElement(type, op.builder.getI32Type());
  SmallVector<int64_t> others = tg::otherDims({axis}, type.getRank());
  Value lane = op.make<tg::IotaOp>(integers, axis),
        wide = op.broadcast(moved(op, index, type.getDimSize(axis)), integers, others);
  Value isPicked = op.compare(arith::CmpIPredicate::eq, lane, wide);
  return op.sum(op.select(isPicked, a, op.zeros(type)), {axis});
}

/// take_along_axis with one position for each row.
static Values pickAlong(SourceOp &op, const Placement &place, int64_t axis) {
  SmallVector<int64_t> others = tg::otherDims({axis}, op.shape(0).size()), rows;
  for (int64_t dim : others)
    rows.push_back(op.shape(0)[dim]);
  SmallVector<int64_t> given;
  for (int64_t dim : place.indexBatching)
    given.push_back(place.positions[dim]);
  if (ArrayRef(place.operandBatching) != ArrayRef(others) || given != rows ||
      tg::withShape(op.operandType(1), place.positions).getNumElements() !=
          tg::withShape(op.operandType(1), rows).getNumElements() ||
      op.resultType().getNumElements() != tg::withShape(op.operandType(1), rows).getNumElements())
    return {op.fail("only one element of each row is picked; pick several one by one")};
  Value index = op.reshape(op.tensor(1), rows);
  return {op.reshape(picked(op, op.tensor(0), index, axis), op.resultShape())};
}

/// Whether a known tensor is the index along its dim `dim`.
static bool isIndexAlong(const MaybeKnown &known, int64_t dim) {
  const Affine *affine = known ? known->affine() : nullptr;
  if (!affine || affine->constant != 0)
    return false;
  for (auto [number, factor] : enumerate(affine->factors))
    if (factor != (static_cast<int64_t>(number) == dim && known->shape[number] != 1))
      return false;
  return true;
}

/// x[jnp.arange(n), i]: each dim but one has its own index as position.
static Values pickAtPositions(SourceOp &op, const Placement &place) {
  Operation *parts = op.definition(1, "stablehlo.concatenate");
  int64_t rank = op.shape(0).size(), axis = -1;
  bool isMatrix = parts && static_cast<int64_t>(place.indexMap.size()) == rank && is_sorted(place.indexMap) &&
                  parts->getNumOperands() == place.indexMap.size() &&
                  static_cast<int64_t>(place.positions.size()) == rank - 1;
  for (int64_t dim = 0, lead = 0; isMatrix && dim < rank; ++dim) {
    if (isIndexAlong(op.knownOf(parts->getOperand(dim)), lead) && lead < rank - 1 &&
        place.positions[lead] == op.shape(0)[dim])
      ++lead;
    else if (axis < 0)
      axis = dim;
    else
      isMatrix = false;
  }
  if (!isMatrix || axis < 0 || op.resultShape() != ArrayRef<int64_t>(place.positions))
    return {op.fail("only rows of a table (w[i]), or one element of each row (jnp.take_along_axis), are gathered")};
  Value index = op.reshape(op.tensorOf(parts->getOperand(axis)), place.positions);
  return {picked(op, op.tensor(0), index, axis)};
}

static Values gather(SourceOp &op) {
  std::optional<Placement> place =
      placementOf(op, "dimension_numbers", "gather", "offset_dims", "collapsed_slice_dims", "operand_batching_dims",
                  "start_indices_batching_dims", "start_index_map");
  Integers sizes = op.integers("slice_sizes");
  int64_t rank = op.shape(0).size();
  if (!place || static_cast<int64_t>(sizes.size()) != rank || !isInteger(op, 1) ||
      op.operandType(0).getElementType() != op.element())
    return {op.fail("the dims do not fit the operands")};
  int64_t axis = place->indexMap.front();
  bool isRows = place->indexMap.size() == 1 && place->operandBatching.empty() && place->collapsed == Integers{axis};
  for (int64_t dim = 0; dim < rank; ++dim)
    isRows &= sizes[dim] == (dim == axis ? 1 : op.shape(0)[dim]);
  if (isRows)
    return rows(op, *place, axis);
  bool isElements =
      all_of(sizes, [](int64_t size) { return size == 1; }) && place->offsetDims.empty() && op.isFloatResult();
  if (isElements && place->indexMap.size() == 1 && place->collapsed == Integers{axis})
    return pickAlong(op, *place, axis);
  if (isElements && place->operandBatching.empty())
    return pickAtPositions(op, *place);
  return {op.fail("only rows of a table (w[i]), or one element of each row (jnp.take_along_axis), are gathered")};
}

/// Sums rows into a table.
static Values scatter(SourceOp &op) {
  std::optional<Placement> place =
      placementOf(op, "scatter_dimension_numbers", "scatter", "update_window_dims", "inserted_window_dims",
                  "input_batching_dims", "scatter_indices_batching_dims", "scatter_dims_to_operand_dims");
  if (!place || !isInteger(op, 1) || op.operandType(0) != op.resultType() || !op.isFloatResult() ||
      op.operandType(2).getElementType() != op.element())
    return {op.fail("the dims do not fit the operands")};
  SmallVector<int64_t> updates(place->positions);
  append_range(updates, op.shape(0).drop_front(op.shape(0).empty() ? 0 : 1));
  Block *body =
      op.op->getNumRegions() == 1 && op.op->getRegion(0).hasOneBlock() ? &op.op->getRegion(0).front() : nullptr;
  bool isSum = body && body->getOperations().size() == 2 && body->front().getName().getStringRef() == "stablehlo.add" &&
               equal(body->front().getOperands(), body->getArguments()) &&
               equal(body->back().getOperands(), body->front().getResults());
  if (!isSum || place->indexMap != Integers{0} || place->collapsed != Integers{0} || !place->operandBatching.empty() ||
      op.shape(2) != ArrayRef(updates) || place->offsetDims != tg::dimRange(place->positions.size(), updates.size()))
    return {op.fail("only sums of rows into a table, w.at[i].add(rows), are supported")};
  // An update out of bounds is left out: it adds zeros to a row.
  Value index = op.reshape(op.tensor(1), place->positions), row = moved(op, index, op.shape(0)[0]),
        added = op.tensor(2);
  if (row != index) {
    Value isInside = op.compare(arith::CmpIPredicate::eq, row, index);
    added = op.select(op.broadcast(isInside, tg::withElement(tg::typeOf(added), op.builder.getI1Type()),
                                   tg::dimRange(0, place->positions.size())),
                      added, op.zeros(tg::typeOf(added)));
  }
  Value sum = op.make<tg::ScatterAddOp>(op.resultType(), row, added);
  bool isZero = op.known(0) && op.known(0)->splat() == 0.0;
  return {isZero ? sum : op.add(op.tensor(0), sum)};
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
    {"stablehlo.scatter", 3, "scatter_dimension_numbers:E", scatter, nullptr, "tg.scatter_add",
     "indices_are_sorted unique_indices"},
    {"stablehlo.dynamic_slice", -1, "slice_sizes:L", dynamicSlice, evaluateDynamicSlice, "tg.slice at known positions"},
    {"stablehlo.dynamic_update_slice", -2, "", dynamicUpdate, nullptr, "tg.concat at known positions"},
};

ArrayRef<OpRow> braid::stablehlo::indexingRows() { return kIndexingRows; }
