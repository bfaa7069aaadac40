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

Value braid::stablehlo::moved(SourceOp &op, Value index, int64_t size) {
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

bool braid::stablehlo::areOfRows(const Placement &place) {
  return place.indexMap.size() == 1 && place.operandBatching.empty() && place.collapsed == place.indexMap;
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
