//===- Match.h - parts of a formula in a graph ------------------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_MATCH_H
#define BRAID_LIB_IMPORT_MATCH_H

#include "dialects/TG/TGBuilder.h"
#include "mlir/IR/Matchers.h"
#include <algorithm>
#include <charconv>
#include <cmath>

namespace braid::match {

/// Returns the number that all elements of a constant equal, also if it was repeated or reshaped.
inline std::optional<double> splat(mlir::Value value) {
  while (mlir::isa_and_present<tg::BroadcastOp, tg::ReshapeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  mlir::SplatElementsAttr elements;
  if (!mlir::matchPattern(value, mlir::m_Constant(&elements)) || !mlir::isa<mlir::FloatType>(elements.getElementType()))
    return std::nullopt;
  return elements.getSplatValue<llvm::APFloat>().convertToDouble();
}

/// Returns the shortest decimal that rounds to a constant, since a program states 1e-5 and not the f32 beside it.
inline std::optional<double> decimal(mlir::Value value) {
  std::optional<double> number = splat(value);
  if (!number || static_cast<float>(*number) != *number)
    return number;
  char digits[32];
  char *end = std::to_chars(digits, digits + sizeof(digits), static_cast<float>(*number)).ptr;
  double shortest = *number;
  std::from_chars(digits, end, shortest);
  return shortest;
}

/// Whether a constant equals `number` to the precision of f32.
inline bool isSplat(mlir::Value value, double number) {
  std::optional<double> found = splat(value);
  return found && std::abs(*found - number) <= 1e-6 * std::abs(number);
}

/// Returns the operands of the commutative op that defines a value, in both orders: calls `use` until it returns true.
template <class Op, class Use> bool either(mlir::Value value, Use use) {
  auto op = value.getDefiningOp<Op>();
  return op && (use(op.getLhs(), op.getRhs()) || use(op.getRhs(), op.getLhs()));
}

/// Returns the other operand of a commutative op with a constant, or null.
template <class Op> mlir::Value withConstant(mlir::Value value, double number) {
  mlir::Value rest;
  either<Op>(value, [&](mlir::Value a, mlir::Value b) {
    if (!isSplat(b, number))
      return false;
    rest = a;
    return true;
  });
  return rest;
}

/// Looks through broadcasts and reshapes that only repeat elements or add dims of size 1.
inline mlir::Value beforeBroadcast(mlir::Value value) {
  while (true) {
    if (auto broadcast = value.getDefiningOp<tg::BroadcastOp>())
      value = broadcast.getInput();
    else if (auto reshape = value.getDefiningOp<tg::ReshapeOp>();
             reshape && tg::typeOf(value).getRank() > 0 &&
             tg::typeOf(value).getNumElements() == tg::typeOf(value).getDimSize(tg::typeOf(value).getRank() - 1))
      value = reshape.getInput();
    else
      return value;
  }
}

/// Returns keys or values before their heads were repeated, if each was repeated so that neighbors are equal.
inline mlir::Value beforeRepeat(mlir::Value a) {
  auto reshape = a.getDefiningOp<tg::ReshapeOp>();
  auto broadcast = reshape ? reshape.getInput().getDefiningOp<tg::BroadcastOp>() : nullptr;
  if (!broadcast || tg::typeOf(broadcast).getRank() != 5)
    return a;
  llvm::ArrayRef<int64_t> wide = tg::typeOf(broadcast).getShape(), joined = tg::typeOf(a).getShape();
  mlir::RankedTensorType before = tg::typeOf(broadcast.getInput());
  bool joinsHeads =
      joined.size() == 4 && joined[0] == wide[0] && joined[1] == wide[1] * wide[2] && joined[2] == wide[3];
  bool repeatsThird = llvm::ArrayRef(broadcast.getDims()) == llvm::ArrayRef<int64_t>({0, 1, 3, 4}) &&
                      before.getShape() == llvm::ArrayRef<int64_t>({wide[0], wide[1], wide[3], wide[4]});
  return joinsHeads && repeatsThird ? broadcast.getInput() : a;
}

} // namespace braid::match

#endif // BRAID_LIB_IMPORT_MATCH_H
