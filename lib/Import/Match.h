//===- Match.h - parts of a formula in a graph ------------------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_MATCH_H
#define BRAID_LIB_IMPORT_MATCH_H

#include "dialects/TG/TGBuilder.h"
#include "mlir/IR/Matchers.h"
#include <charconv>
#include <cmath>

namespace braid::match {

/// Returns the number that all elements of a constant equal.
inline std::optional<double> splat(mlir::Value value) {
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

} // namespace braid::match

#endif // BRAID_LIB_IMPORT_MATCH_H
