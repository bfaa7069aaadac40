//===- Placement.cpp - the dims of gathers and scatters -------------------===//

#include "lib/Import/StableHLO/Placement.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

bool braid::stablehlo::areDims(ArrayRef<int64_t> dims, int64_t rank) {
  return all_of(dims, [&](int64_t dim) { return dim >= 0 && dim < rank; }) && is_sorted(dims) &&
         std::adjacent_find(dims.begin(), dims.end()) == dims.end();
}

/// Reads the dims from the fields with these names.
static std::optional<Placement> placementOf(SourceOp &op, StringRef attribute, StringRef kind, StringRef offsets,
                                            StringRef inserted, StringRef batching, StringRef indexBatching,
                                            StringRef map) {
  std::optional<Fields> fields = Fields::parse(op.attribute(attribute), kind);
  if (!fields || !op.operandType(1).getElementType().isInteger(32))
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

std::optional<Placement> braid::stablehlo::placementOfGather(SourceOp &op) {
  return placementOf(op, "dimension_numbers", "gather", "offset_dims", "collapsed_slice_dims", "operand_batching_dims",
                     "start_indices_batching_dims", "start_index_map");
}

std::optional<Placement> braid::stablehlo::placementOfScatter(SourceOp &op) {
  return placementOf(op, "scatter_dimension_numbers", "scatter", "update_window_dims", "inserted_window_dims",
                     "input_batching_dims", "scatter_indices_batching_dims", "scatter_dims_to_operand_dims");
}

/// Moves an index into [0, size).
static Value clamped(SourceOp &op, Value index, int64_t size) {
  return op.make<arith::MinSIOp>(op.make<arith::MaxSIOp>(index, op.constantLike(index, 0)),
                                 op.constantLike(index, static_cast<double>(size - 1)));
}

Value braid::stablehlo::moved(SourceOp &op, Value index, int64_t size) {
  Value source = index;
  while (auto reshape = source.getDefiningOp<tg::ReshapeOp>())
    source = reshape.getInput();
  // In a whole step, an argument may be a state, which no reader of data checks.
  return isa<BlockArgument>(source) && !op.isStep() ? index : clamped(op, index, size);
}

//===----------------------------------------------------------------------===//
// Rows of a table
//===----------------------------------------------------------------------===//

bool braid::stablehlo::areOfRows(const Placement &place) {
  Integers dims(place.indexMap);
  llvm::sort(dims);
  return place.operandBatching.empty() && place.collapsed == dims;
}

RowTable braid::stablehlo::rowTableOf(SourceOp &op, const Placement &place) {
  RowTable table{{}, SmallVector<int64_t>(op.shape(0).size()), {}, {}, 1, 1};
  for (int64_t dim : place.indexMap) {
    table.order.push_back(dim);
    table.dims.push_back(op.shape(0)[dim]);
    table.rows *= op.shape(0)[dim];
  }
  for (int64_t dim : tg::otherDims(place.collapsed, op.shape(0).size())) {
    table.order.push_back(dim);
    table.row.push_back(op.shape(0)[dim]);
    table.width *= op.shape(0)[dim];
  }
  for (auto [number, dim] : enumerate(table.order))
    table.back[dim] = number;
  return table;
}

/// Returns the positions along the dim that is number `number` in the index map.
static Value positionsAlong(SourceOp &op, const Placement &place, size_t number) {
  if (place.indexMap.size() == 1)
    return op.reshape(op.tensor(1), place.positions);
  // Known parts of joined positions are positions themselves, and the joined ones may be a large table.
  Operation *parts = op.definition(1, "stablehlo.concatenate");
  auto isColumn = [&](Value part) {
    ArrayRef<int64_t> shape = typeHere(part.getType()).getShape();
    return place.indexDim < static_cast<int64_t>(shape.size()) && shape[place.indexDim] == 1;
  };
  if (parts && parts->getNumOperands() == place.indexMap.size() && all_of(parts->getOperands(), isColumn))
    return op.reshape(op.tensorOf(parts->getOperand(number)), place.positions);
  return op.reshape(sliced(op, op.tensor(1), place.indexDim, number, 1), place.positions);
}

RowIndex braid::stablehlo::rowIndexOf(SourceOp &op, const Placement &place, const RowTable &table) {
  RowIndex result;
  for (auto [number, size] : enumerate(table.dims)) {
    Value given = positionsAlong(op, place, number);
    Value index = table.dims.size() == 1 ? moved(op, given, size) : clamped(op, given, size);
    if (index != given) {
      Value isInside = op.compare(arith::CmpIPredicate::eq, index, given);
      result.isInside = result.isInside ? op.make<arith::AndIOp>(result.isInside, isInside) : isInside;
    }
    Value before = result.index
                       ? op.make<arith::MulIOp>(result.index, op.constantLike(result.index, static_cast<double>(size)))
                       : Value();
    result.index = before ? op.make<arith::AddIOp>(before, index) : index;
  }
  return result;
}

std::optional<Integers> braid::stablehlo::knownStart(SourceOp &op, const Placement &place, ArrayRef<int64_t> sizes) {
  std::optional<std::vector<double>> given = op.known(1) ? op.known(1)->numbers() : std::nullopt;
  ArrayRef<int64_t> shape = op.shape(0);
  if (!given || given->size() != place.indexMap.size() || !place.operandBatching.empty() ||
      sizes.size() != shape.size())
    return std::nullopt;
  Integers starts(shape.size(), 0);
  for (auto [dim, start] : zip_equal(place.indexMap, *given))
    starts[dim] = static_cast<int64_t>(start);
  for (auto [start, size, all] : zip_equal(starts, sizes, shape))
    if (start < 0 || size < 1 || start > all - size)
      return std::nullopt;
  return starts;
}

Value braid::stablehlo::partOf(SourceOp &op, Value a, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes) {
  for (auto [dim, start] : enumerate(starts))
    a = sliced(op, a, dim, start, sizes[dim]);
  return a;
}

Value braid::stablehlo::replaced(SourceOp &op, Value a, Value part, ArrayRef<int64_t> starts) {
  ArrayRef<int64_t> shape = tg::typeOf(a).getShape(), sizes = tg::typeOf(part).getShape();
  int64_t dim = 0, rank = shape.size();
  while (dim < rank && shape[dim] == sizes[dim])
    ++dim;
  if (dim == rank)
    return part;
  int64_t start = starts[dim], end = start + sizes[dim];
  Values parts;
  if (start > 0)
    parts.push_back(sliced(op, a, dim, 0, start));
  parts.push_back(replaced(op, sliced(op, a, dim, start, sizes[dim]), part, starts));
  if (end < shape[dim])
    parts.push_back(sliced(op, a, dim, end, shape[dim] - end));
  return op.make<tg::ConcatOp>(parts, dim);
}

std::optional<Consecutive> braid::stablehlo::consecutiveRows(SourceOp &op, const Placement &place, int64_t rows) {
  const MaybeKnown &given = op.known(1);
  MaybeKnown positions = given ? known::reshape(*given, place.positions) : std::nullopt;
  const Affine *affine = positions ? positions->affine() : nullptr;
  if (!affine || positions->shape.size() > 1)
    return std::nullopt;
  int64_t size = positions->shape.empty() ? 1 : positions->shape[0];
  bool countsUp = size == 1 || (!affine->factors.empty() && affine->factors[0] == 1);
  if (!countsUp || affine->constant < 0 || affine->constant + size > rows)
    return std::nullopt;
  return Consecutive{affine->constant, size};
}

//===----------------------------------------------------------------------===//
// An element of each row
//===----------------------------------------------------------------------===//

/// take_along_axis with one position for each row.
static std::optional<PickedElements> pickedAlong(SourceOp &op, const Placement &place) {
  int64_t axis = place.indexMap.front();
  SmallVector<int64_t> others = tg::otherDims({axis}, op.shape(0).size()), rows, given;
  for (int64_t dim : others)
    rows.push_back(op.shape(0)[dim]);
  for (int64_t dim : place.indexBatching)
    given.push_back(place.positions[dim]);
  auto elements = [&](ArrayRef<int64_t> shape) { return tg::withShape(op.operandType(1), shape).getNumElements(); };
  if (place.collapsed != Integers{axis} || ArrayRef(place.operandBatching) != ArrayRef(others) || given != rows ||
      elements(place.positions) != elements(rows))
    return std::nullopt;
  return PickedElements{axis, op.reshape(op.tensor(1), rows)};
}

std::optional<SeveralElements> braid::stablehlo::severalElements(SourceOp &op, const Placement &place) {
  if (place.indexMap.size() != 1 || !place.offsetDims.empty() || !isa<FloatType>(op.operandType(0).getElementType()))
    return std::nullopt;
  int64_t axis = place.indexMap.front(), elements = 1;
  SmallVector<int64_t> others = tg::otherDims({axis}, op.shape(0).size()), order(place.indexBatching), shape;
  bool isAlong = place.collapsed == Integers{axis} && ArrayRef(place.operandBatching) == ArrayRef(others);
  for (int64_t dim : tg::otherDims(place.indexBatching, place.positions.size())) {
    order.push_back(dim);
    elements *= place.positions[dim];
  }
  for (auto [other, dim] : zip(others, place.indexBatching)) {
    isAlong &= op.shape(0)[other] == place.positions[dim];
    shape.push_back(op.shape(0)[other]);
  }
  if (!isAlong)
    return std::nullopt;
  shape.push_back(elements);
  Value index = op.transposed(op.reshape(op.tensor(1), place.positions), order);
  return SeveralElements{axis, op.reshape(index, shape), order};
}

Pairs braid::stablehlo::pairsOf(SourceOp &op, const SeveralElements &several) {
  SmallVector<int64_t> shape(tg::typeOf(several.index).getShape());
  int64_t last = shape.size();
  shape.push_back(op.shape(0)[several.axis]);
  RankedTensorType type = tg::withShape(op.operandType(0), shape),
                   integers = tg::withElement(type, op.builder.getI32Type());
  Value wide = op.broadcast(several.index, integers, tg::dimRange(0, last));
  return {type, op.compare(arith::CmpIPredicate::eq, op.make<tg::IotaOp>(integers, last), wide)};
}

bool braid::stablehlo::isIndexAlong(const MaybeKnown &known, int64_t dim) {
  const Affine *affine = known ? known->affine() : nullptr;
  if (!affine || affine->constant != 0)
    return false;
  for (auto [number, factor] : enumerate(affine->factors))
    if (factor != (static_cast<int64_t>(number) == dim && known->shape[number] != 1))
      return false;
  return true;
}

/// x[jnp.arange(n), i]: each dim but one has its own index as position.
static std::optional<PickedElements> pickedAtPositions(SourceOp &op, const Placement &place) {
  Operation *parts = op.definition(1, "stablehlo.concatenate");
  int64_t rank = op.shape(0).size(), axis = -1;
  if (!parts || static_cast<int64_t>(place.indexMap.size()) != rank ||
      place.collapsed.size() != place.indexMap.size() || !is_sorted(place.indexMap) ||
      parts->getNumOperands() != place.indexMap.size() || static_cast<int64_t>(place.positions.size()) != rank - 1)
    return std::nullopt;
  for (int64_t dim = 0, lead = 0; dim < rank; ++dim) {
    if (isIndexAlong(op.knownOf(parts->getOperand(dim)), lead) && lead < rank - 1 &&
        place.positions[lead] == op.shape(0)[dim])
      ++lead;
    else if (axis < 0)
      axis = dim;
    else
      return std::nullopt;
  }
  if (axis < 0)
    return std::nullopt;
  return PickedElements{axis, op.reshape(op.tensorOf(parts->getOperand(axis)), place.positions)};
}

std::optional<PickedElements> braid::stablehlo::pickedElements(SourceOp &op, const Placement &place) {
  if (!place.offsetDims.empty() || !isa<FloatType>(op.operandType(0).getElementType()))
    return std::nullopt;
  if (place.indexMap.size() == 1)
    return pickedAlong(op, place);
  return place.operandBatching.empty() ? pickedAtPositions(op, place) : std::nullopt;
}

Value braid::stablehlo::isPicked(SourceOp &op, const PickedElements &picked, RankedTensorType type) {
  RankedTensorType integers = tg::withElement(type, op.builder.getI32Type());
  Value lane = op.make<tg::IotaOp>(integers, picked.axis),
        wide = op.broadcast(picked.index, integers, tg::otherDims({picked.axis}, type.getRank()));
  return op.compare(arith::CmpIPredicate::eq, lane, wide);
}
