//===- OpTable.h - one evaluation function for each op ----------*- C++ -*-===//
//
// An op's function takes the op, its operands as tensors and the arithmetic,
// and returns its results, computed in f64; the evaluator rounds them.  The
// same function serves values and memory: only where operands come from
// differs.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_OPTABLE_H
#define BRAID_LIB_REFERENCE_OPTABLE_H

#include "lib/Reference/Tensor.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace braid::reference {

/// The tensors behind an op's operands, by operand value.
class Operands {
public:
  Operands(mlir::Operation *op, llvm::ArrayRef<const Tensor *> tensors) : op(op), tensors(tensors) {}

  /// The tensor of an operand of the op.
  const Tensor &operator()(mlir::Value operand) const;
  /// The same, or null for an optional operand that is not there.
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
  /// Every op the interpreter knows, except elementwise ones (see
  /// Elementwise.h).
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

private:
  llvm::StringMap<OpFunction> functions;
};

/// Results from their tensors.
template <typename... Tensors> Results results(Tensors &&...tensors) {
  llvm::SmallVector<Tensor> list;
  (list.push_back(std::forward<Tensors>(tensors)), ...);
  return list;
}

/// The tensor type an action makes: that of its result, or of what it writes.
mlir::RankedTensorType resultType(mlir::Operation *op, unsigned i = 0);

// One a file.
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
