//===- Evaluator.h - runs functions on values -------------------*- C++ -*-===//
#ifndef BRAID_LIB_REFERENCE_EVALUATOR_H
#define BRAID_LIB_REFERENCE_EVALUATOR_H

#include "lib/Reference/OpTable.h"
#include "lib/Reference/Ranks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid::reference {

/// Evaluates one op and rounds its results as the arithmetic requires. Fails on an
/// unknown op, with an error that names it.
Results evaluate(mlir::Operation *op, llvm::ArrayRef<const Tensor *> operands, Arithmetic arithmetic);

/// Returns the value of a constant.
mlir::FailureOr<Tensor> evaluateConstant(mlir::arith::ConstantOp op);

/// Evaluates one op as rank `rank` of `network`, if there is one.
Results evaluateOnRank(mlir::Operation *op, llvm::ArrayRef<const Tensor *> operands, Arithmetic arithmetic,
                       const Network *network, int64_t rank);

/// Evaluates an op whose result depends on the rank's place in the mesh; no value for other ops.
std::optional<Tensor> evaluateAtRank(mlir::Operation *op, llvm::ArrayRef<const Tensor *> operands,
                                     const comm::Mesh &mesh, int64_t rank);

/// A running function of tg, arith, math, comm and exec (on values) ops.
class FunctionRun : public Process {
public:
  /// Runs on one device if `network` is null; else as a rank of it.
  FunctionRun(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> arguments, Arithmetic arithmetic,
              Network *network = nullptr, int64_t rank = 0);

  mlir::FailureOr<bool> advance() override;
  Results returned() override;

private:
  mlir::FailureOr<bool> runOp(mlir::Operation *op);
  mlir::FailureOr<bool> runCollective(mlir::Operation *op);
  mlir::FailureOr<std::shared_ptr<Request>> start(mlir::Operation *collective);
  const Tensor *valueOf(mlir::Value value) const { return &values.find(value)->second; }
  void bind(mlir::Operation *op, llvm::ArrayRef<Tensor> results);

  mlir::func::FuncOp function;
  Arithmetic arithmetic;
  Network *network;
  int64_t rank;
  llvm::DenseMap<mlir::Value, Tensor> values;
  /// Values that no op after an op reads.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> dying;
  mlir::Block::iterator next;
  /// Collectives in flight, by their start; a blocking collective is its own.
  llvm::DenseMap<mlir::Operation *, std::shared_ptr<Request>> requests;
};

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_EVALUATOR_H
