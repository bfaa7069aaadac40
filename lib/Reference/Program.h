//===- Program.h - what can be run, and what it takes and gives -*- C++ -*-===//
//
// A function on values and a program in memory look the same from here: named
// inputs, named results.  Tensors are logical: a parameter that the program
// holds transposed is exchanged at this edge.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_PROGRAM_H
#define BRAID_LIB_REFERENCE_PROGRAM_H

#include "dialects/Exec/Exec.h"
#include "dialects/TG/TG.h"
#include "lib/Reference/OpTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <map>

namespace braid::reference {

/// Tensors by name.
using Values = std::map<std::string, Tensor>;

enum class InputKind { Param, State, Input };

struct InputSlot {
  InputKind kind = InputKind::Input;
  std::string name, role;
  mlir::RankedTensorType type; ///< as the program holds it
  tg::InitAttr init;           ///< null for inputs
  bool transposed = false, frozen = false;
  bool scratch = false; ///< a state that starts from its initializer in every step
  unsigned stream = 0;  ///< of initial values: the number among parameters and states
  /// Ints stay below this: rows of the tables they index, or classes.  0:
  /// unknown.
  int64_t bound = 0;
  std::optional<int64_t> ignoreIndex;

  mlir::RankedTensorType logicalType() const;
};

struct ResultSlot {
  std::string role, updates, gradOf;
  mlir::RankedTensorType type;
  bool transposed = false;

  /// `loss`, `updates w`, `grad_of w`, or empty.
  std::string name() const;
};

class Program {
public:
  /// The function or program called `name`, or the only one when it is empty.
  static mlir::FailureOr<Program> find(mlir::ModuleOp module, llvm::StringRef name);
  /// The names of all functions and programs, in order.
  static std::vector<std::string> names(mlir::ModuleOp module);
  static bool exists(mlir::ModuleOp module, llvm::StringRef name);

  std::string name;
  std::vector<InputSlot> inputs;
  std::vector<ResultSlot> results;

  /// Runs on tensors for each input; returns one for each result.
  Results run(llvm::ArrayRef<Tensor> arguments, Arithmetic arithmetic) const;
  /// The same with inputs by name.
  Results run(const Values &arguments, Arithmetic arithmetic) const;

  /// Reports an error at the program.
  mlir::LogicalResult emitError(llvm::Error error) const;

  mlir::func::FuncOp function() const { return llvm::dyn_cast<mlir::func::FuncOp>(op); }

private:
  static mlir::FailureOr<Program> ofFunction(mlir::func::FuncOp function);
  static mlir::FailureOr<Program> ofMemory(exec::ProgramOp program);
  Results runInMemory(llvm::ArrayRef<Tensor> arguments, Arithmetic arithmetic) const;

  mlir::Operation *op = nullptr;
};

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_PROGRAM_H
