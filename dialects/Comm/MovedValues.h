//===- MovedValues.h - which values a collective moves ----------*- C++ -*-===//
//
// The discardable attribute `comm.moved` of a collective, on values and in memory.  Where the ranks
// of a program run several functions, a pass has cut these from one function that all ranks would
// run.  For each tensor of a collective that ranks of several functions take part in, the attribute says
// which value of that function it is: an argument by its name, a result by its number among all values.
//
//   comm.moved = ["wte.weight", 40]
//
// comm-verify-order compares it: types alone do not tell one tensor from another.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_MOVEDVALUES_H
#define BRAID_DIALECTS_COMM_MOVEDVALUES_H

#include "dialects/Comm/Comm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid::comm {

inline constexpr llvm::StringLiteral kMoved = "comm.moved";

/// The names and numbers of a function's values.
class ValueNumbers {
public:
  explicit ValueNumbers(mlir::func::FuncOp function);
  mlir::Attribute of(mlir::Value value) const { return numbers.at(value); }

private:
  llvm::DenseMap<mlir::Value, mlir::Attribute> numbers;
};

/// Null where nothing is said.
mlir::ArrayAttr movedValuesOf(mlir::Operation *op);
void setMovedValues(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> values);

llvm::LogicalResult verifyMovedValues(mlir::Operation *op, mlir::Attribute attribute);

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_MOVEDVALUES_H
