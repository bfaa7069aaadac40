//===- Placement.h - the dims of gathers and scatters -----------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_STABLEHLO_PLACEMENT_H
#define BRAID_LIB_IMPORT_STABLEHLO_PLACEMENT_H

#include "lib/Import/StableHLO/Translator.h"

namespace braid::stablehlo {

/// Dims of a gather or a scatter.
struct Placement {
  /// Dims of the result (or of updates) that lie in the slices.
  Integers offsetDims;
  Integers collapsed, operandBatching, indexBatching, indexMap;
  int64_t indexDim = 0;
  /// Shape of the indices without `indexDim`.
  Shape positions;
};

/// Read the dims, or return nothing if they do not fit the operands.
std::optional<Placement> placementOfGather(SourceOp &op);
std::optional<Placement> placementOfScatter(SourceOp &op);

/// Checks that each dim is one of a tensor of `rank`, in increasing order.
bool areDims(llvm::ArrayRef<int64_t> dims, int64_t rank);

/// Whether the positions are rows along one dim of the first operand, which the slices hold whole otherwise.
bool areOfRows(const Placement &place);

/// Known positions of rows that count up: start, start + 1, and so on.
struct Consecutive {
  int64_t start, size;
};
/// Returns the positions if they count up and lie in [0, rows), or nothing.
std::optional<Consecutive> consecutiveRows(SourceOp &op, const Placement &place, int64_t rows);

/// One element of each row along `axis`: `index` has the other dims.
struct PickedElements {
  int64_t axis;
  mlir::Value index;
};
/// Reads positions of one element of each row, or returns nothing for other positions. jnp.take_along_axis makes the
/// other dims batching dims; x[jnp.arange(n), i] spells them as positions.
std::optional<PickedElements> pickedElements(SourceOp &op, const Placement &place);

/// Returns a computed index, moved into [0, size) as a gather does it. Indices that are an input are checked when data
/// are read.
mlir::Value moved(SourceOp &op, mlir::Value index, int64_t size);

/// Whether each lane along the axis is the picked one, in the shape `type`.
mlir::Value isPicked(SourceOp &op, const PickedElements &picked, mlir::RankedTensorType type);

/// Builds a scatter: sums at positions.
Values scatter(SourceOp &op);

} // namespace braid::stablehlo

#endif // BRAID_LIB_IMPORT_STABLEHLO_PLACEMENT_H
