//===- OpTable.h - one evaluation function for each op ----------*- C++ -*-===//
//
// The function of an op takes the op, its operands as tensors and the arithmetic. It
// returns the results, computed in f64; the evaluator rounds them.  The same function
// serves values and memory, which differ only in the source of the operands.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_OPTABLE_H
#define BRAID_LIB_REFERENCE_OPTABLE_H

#include "lib/Reference/Tensor.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace braid::reference {

/// Tensors of an op's operands, by operand value.
class Operands {
public:
  Operands(mlir::Operation *op, llvm::ArrayRef<const Tensor *> tensors) : op(op), tensors(tensors) {}

  /// Returns the tensor of an operand of the op.
  const Tensor &operator()(mlir::Value operand) const;
  /// Returns the tensor of an optional operand; null if it is absent.
  const Tensor *optional(mlir::Value operand) const { return operand ? &(*this)(operand) : nullptr; }
  const Tensor &operator[](unsigned i) const { return *tensors[i]; }
  unsigned size() const { return tensors.size(); }

private:
  mlir::Operation *op;
  llvm::ArrayRef<const Tensor *> tensors;
};

using Results = mlir::FailureOr<llvm::SmallVector<Tensor>>;
using OpFunction = std::function<Results(mlir::Operation *, const Operands &, Arithmetic)>;

class OpTable {
public:
  /// Returns the table of all ops that the interpreter knows, except elementwise ones (see Elementwise.h).
  static const OpTable &instance();

  const OpFunction *find(mlir::Operation *op) const;

  /// Adds the function of an op with one result, or of one that may fail.
  template <typename OpT> void add(Tensor (*function)(OpT, const Operands &)) {
    functions[OpT::getOperationName()] = [function](mlir::Operation *op, const Operands &in, Arithmetic) -> Results {
      llvm::SmallVector<Tensor> results;
      results.push_back(function(llvm::cast<OpT>(op), in));
      return results;
    };
  }
  template <typename OpT> void add(Results (*function)(OpT, const Operands &)) {
    functions[OpT::getOperationName()] = [function](mlir::Operation *op, const Operands &in, Arithmetic) {
      return function(llvm::cast<OpT>(op), in);
    };
  }
  template <typename OpT> void add(Results (*function)(OpT, const Operands &, Arithmetic)) {
    functions[OpT::getOperationName()] = [function](mlir::Operation *op, const Operands &in, Arithmetic arithmetic) {
      return function(llvm::cast<OpT>(op), in, arithmetic);
    };
  }
  template <typename... Functions> void addAll(Functions... all) { (add(all), ...); }

private:
  llvm::StringMap<OpFunction> functions;
};

/// Makes results from their tensors.
template <typename... Tensors> Results results(Tensors &&...tensors) {
  llvm::SmallVector<Tensor> list;
  (list.push_back(std::forward<Tensors>(tensors)), ...);
  return list;
}

/// Returns the tensor type that an action makes: of its result, or of the out that it writes.
mlir::RankedTensorType resultType(mlir::Operation *op, unsigned i = 0);

// Functions of one file each.
void addMovement(OpTable &table);
void addContraction(OpTable &table);
void addActivations(OpTable &table);
void addNorms(OpTable &table);
void addAttention(OpTable &table);
void addLosses(OpTable &table);
void addExperts(OpTable &table);
void addOptimizers(OpTable &table);
void addExec(OpTable &table);
void addComm(OpTable &table);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_OPTABLE_H
