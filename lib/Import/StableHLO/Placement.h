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

/// Whether the positions are rows along some dims of the first operand, which the slices hold whole otherwise.
bool areOfRows(const Placement &place);

/// Rows at positions of several dims are rows of a table in which these dims are one.
struct RowTable {
  /// Permutation of the operand that makes the table of rows its first dims, and its inverse.
  llvm::SmallVector<int64_t> order, back;
  /// Shapes of the table's dims, of a row, and of the permuted operand.
  Shape dims, row;
  /// Number of rows, and of elements of a row.
  int64_t rows, width;
};
RowTable rowTableOf(SourceOp &op, const Placement &place);

/// Rows of a table, by their number. `isInside` is null if all positions are known to be in the table; positions
/// outside are moved into it.
struct RowIndex {
  mlir::Value index, isInside;
};
RowIndex rowIndexOf(SourceOp &op, const Placement &place, const RowTable &table);

/// Returns the known first position of each dim if there is one position, which slices of `sizes` follow; nothing for
/// other positions, or if the slices leave the operand.
std::optional<Integers> knownStart(SourceOp &op, const Placement &place, llvm::ArrayRef<int64_t> sizes);

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

/// Positions of several elements of each row along `axis`: `index` has the other dims and then one for the elements,
/// and `order` permutes the dims of the positions likewise.
struct SeveralElements {
  int64_t axis;
  mlir::Value index;
  llvm::SmallVector<int64_t> order;
};
std::optional<SeveralElements> severalElements(SourceOp &op, const Placement &place);

/// Pairs of a picked element and a lane of its row, in the last two dims of `type`, and whether the element is the
/// lane.
struct Pairs {
  mlir::RankedTensorType type;
  mlir::Value isPicked;
};
Pairs pairsOf(SourceOp &op, const SeveralElements &several);

/// Whether a known tensor is the index along its dim `dim`.
bool isIndexAlong(const MaybeKnown &known, int64_t dim);

/// Returns a computed index, moved into [0, size) as a gather does it. Indices that are an input are checked when data
/// are read.
mlir::Value moved(SourceOp &op, mlir::Value index, int64_t size);

/// Replaces the part of a tensor that begins at `starts`.
mlir::Value replaced(SourceOp &op, mlir::Value a, mlir::Value part, llvm::ArrayRef<int64_t> starts);

/// Returns the part of a tensor that begins at `starts`.
mlir::Value partOf(SourceOp &op, mlir::Value a, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> sizes);

/// Whether each lane along the axis is the picked one, in the shape `type`.
mlir::Value isPicked(SourceOp &op, const PickedElements &picked, mlir::RankedTensorType type);

/// Builds a scatter: sums at positions.
Values scatter(SourceOp &op);

} // namespace braid::stablehlo

#endif // BRAID_LIB_IMPORT_STABLEHLO_PLACEMENT_H
