//===- MovedValues.h - values that a collective moves -----------*- C++ -*-===//
//
// The discardable attribute `comm.moved` of a collective, on values and in memory. If the ranks of a
// program run several functions, a pass has cut these from one original function. A collective between
// ranks of different functions lists its tensors as values of the original function: an argument by its
// name, a result by its number among all values.
//
//   comm.moved = ["wte.weight", 40]
//
// comm-verify-order compares these values, because types alone do not tell tensors apart.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_MOVEDVALUES_H
#define BRAID_DIALECTS_COMM_MOVEDVALUES_H

#include "dialects/Comm/Comm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid::comm {

inline constexpr llvm::StringLiteral kMoved = "comm.moved";

/// Names and numbers of the values of a function.
class ValueNumbers {
public:
  explicit ValueNumbers(mlir::func::FuncOp function);
  mlir::Attribute of(mlir::Value value) const { return numbers.at(value); }

private:
  llvm::DenseMap<mlir::Value, mlir::Attribute> numbers;
};

/// Returns the attribute, or null if the op lacks it.
mlir::ArrayAttr movedValuesOf(mlir::Operation *op);
void setMovedValues(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> values);

llvm::LogicalResult verifyMovedValues(mlir::Operation *op, mlir::Attribute attribute);

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_MOVEDVALUES_H
