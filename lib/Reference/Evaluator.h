//===- Evaluator.h - runs functions on values -------------------*- C++ -*-===//
#ifndef BRAID_LIB_REFERENCE_EVALUATOR_H
#define BRAID_LIB_REFERENCE_EVALUATOR_H

#include "lib/Reference/OpTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid::reference {

/// Evaluates one op; results are rounded as the arithmetic says.  An op it does
/// not know is an error that names it.
Results evaluate(mlir::Operation *op, llvm::ArrayRef<const Tensor *> operands, Arithmetic arithmetic);

/// The value of a constant.
mlir::FailureOr<Tensor> evaluateConstant(mlir::arith::ConstantOp op);

/// Runs a function of tg, arith, math and exec (on values) ops.
Results runFunction(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> arguments, Arithmetic arithmetic);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_EVALUATOR_H
