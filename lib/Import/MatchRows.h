//===- MatchRows.h - parts of formulas over rows ----------------*- C++ -*-===//
//
// Norms, softmax and losses reduce the last dim, and repeat what they find along it. "Rows" are all dims before the
// last one; a value of each row has their shape, perhaps with a last dim of size 1.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_IMPORT_MATCHROWS_H
#define BRAID_LIB_IMPORT_MATCHROWS_H

#include "lib/Import/Match.h"
#include "llvm/ADT/STLExtras.h"

namespace braid::match {

inline llvm::SmallVector<int64_t> withoutOnes(mlir::Value value) {
  llvm::SmallVector<int64_t> sizes;
  for (int64_t size : tg::typeOf(value).getShape())
    if (size != 1)
      sizes.push_back(size);
  return sizes;
}

/// Looks through reshapes that add or drop dims of size 1.
inline mlir::Value beforeOnes(mlir::Value value) {
  while (auto reshape = value.getDefiningOp<tg::ReshapeOp>()) {
    if (withoutOnes(reshape.getInput()) != withoutOnes(reshape))
      break;
    value = reshape.getInput();
  }
  return value;
}

/// Returns the value of each row that a tensor repeats along its last dim, or null.
inline mlir::Value perRow(mlir::Value wide) {
  auto broadcast = wide.getDefiningOp<tg::BroadcastOp>();
  if (!broadcast || tg::typeOf(wide).getRank() == 0)
    return {};
  mlir::RankedTensorType type = tg::typeOf(wide), given = tg::typeOf(broadcast.getInput());
  bool hasLast = given.getRank() == type.getRank();
  llvm::SmallVector<int64_t> dims = tg::dimRange(0, type.getRank() - !hasLast);
  bool isRow = llvm::ArrayRef<int64_t>(dims) == broadcast.getDims() &&
               given.getShape().take_front(type.getRank() - 1) == type.getShape().drop_back() &&
               (!hasLast || given.getShape().back() == 1);
  return isRow ? broadcast.getInput() : mlir::Value();
}

/// Returns the operand of a reduction of the last dim, looking through dims of size 1, or null.
inline mlir::Value reducedLanes(mlir::Value row, tg::ReduceKind kind) {
  auto reduce = beforeOnes(row).getDefiningOp<tg::ReduceOp>();
  if (!reduce || reduce.getKind() != kind)
    return {};
  return reduce.getDims() == llvm::ArrayRef<int64_t>(tg::typeOf(reduce.getInput()).getRank() - 1) ? reduce.getInput()
                                                                                                  : mlir::Value();
}

/// Returns the number that all elements of an integer constant equal, also if it was repeated or reshaped.
inline std::optional<int64_t> integerSplat(mlir::Value value) {
  while (mlir::isa_and_present<tg::BroadcastOp, tg::ReshapeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  mlir::SplatElementsAttr elements;
  if (!mlir::matchPattern(value, mlir::m_Constant(&elements)) || !elements.getElementType().isInteger(32))
    return std::nullopt;
  return elements.getSplatValue<llvm::APInt>().getSExtValue();
}

/// Whether a value of each row is the row's maximum of `x`, or at least a number that differs from it only where that
/// is infinite.
inline bool isRowMaximum(mlir::Value row, mlir::Value x) {
  mlir::Value value = beforeOnes(row);
  if (auto stop = value.getDefiningOp<tg::StopGradientOp>())
    return isRowMaximum(stop.getInput(), x);
  if (auto select = value.getDefiningOp<mlir::arith::SelectOp>()) // isfinite(m) ? m : 0
    return isSplat(select.getFalseValue(), 0) && isRowMaximum(select.getTrueValue(), x);
  if (either<mlir::arith::MaximumFOp>(value, [&](mlir::Value first, mlir::Value rest) {
        return splat(first) == -HUGE_VAL && isRowMaximum(rest, x);
      }))
    return true;
  return reducedLanes(value, tg::ReduceKind::Max) == x;
}

/// Returns x if a value is x minus its row's maximum.
inline mlir::Value minusRowMaximum(mlir::Value value) {
  auto difference = value.getDefiningOp<mlir::arith::SubFOp>();
  mlir::Value row = difference ? perRow(difference.getRhs()) : mlir::Value();
  return row && isRowMaximum(row, difference.getLhs()) ? difference.getLhs() : mlir::Value();
}

} // namespace braid::match

#endif // BRAID_LIB_IMPORT_MATCHROWS_H
