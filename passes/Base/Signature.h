//===- Signature.h - arguments and results of graph functions ---*- C++ -*-===//
//
// Attributes of a graph function describe its arguments and results (see the tg dialect). These helpers look them up.
// They keep the function's type, its block and its return consistent while passes add and erase.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_BASE_SIGNATURE_H
#define BRAID_PASSES_BASE_SIGNATURE_H

#include "dialects/Comm/Comm.h"
#include "dialects/TG/ProgramSignature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace braid {

mlir::func::ReturnOp returnOf(mlir::func::FuncOp function);

/// Returns the result, or the argument, whose `tg.role` is `role`.
std::optional<unsigned> resultWithRole(mlir::func::FuncOp function, tg::Role role);
mlir::BlockArgument argumentWithRole(mlir::func::FuncOp function, tg::Role role);

using tg::parameterOf;
using tg::stateOf;
/// Returns the facts of an op that gathers a parameter or takes a part of it.
tg::FactsAttr factsOfParameter(tg::ParamAttr parameter, tg::Phase phase);
/// Returns parameters by the name that `of` of a state refers to; a working copy has the name of its master.
llvm::StringMap<mlir::BlockArgument> parametersByOwner(mlir::func::FuncOp function);

/// Returns the inputs whose dim 0 is the batch: tokens, targets, features and labels.
llvm::SmallVector<mlir::BlockArgument> batchInputs(mlir::func::FuncOp function);

/// Appends arguments and results. The function is valid again after `finish`; one update for all additions keeps
/// passes linear. The gradient, new value and state of an argument get the argument's sharding.
class SignatureEditor {
public:
  explicit SignatureEditor(mlir::func::FuncOp function);

  mlir::BlockArgument addArgument(mlir::Type type, llvm::ArrayRef<mlir::NamedAttribute> attributes);
  /// Returns the run-time scalar of a role, which is also its name; adds it if it is missing.
  mlir::BlockArgument scalarInput(tg::Role role, mlir::Type element);
  /// Adds a state that starts at zero. If `parameter` is not null, the state belongs to it and has its storage layout.
  mlir::BlockArgument addState(mlir::Type type, llvm::StringRef name, tg::TensorKind kind,
                               mlir::BlockArgument parameter);
  /// Adds a result with one string attribute, or with a role.
  void addResult(mlir::Value value, llvm::StringRef attribute, llvm::StringRef text);
  void addResult(mlir::Value value, tg::Role role);
  void finish();

private:
  mlir::func::FuncOp function;
  mlir::Builder builder;
  /// Records the name and the sharding in the next argument's attributes.
  void noteSharding(mlir::DictionaryAttr attributes);

  llvm::SmallVector<mlir::DictionaryAttr> argumentAttributes, resultAttributes;
  llvm::SmallVector<mlir::Value> results;
  llvm::DenseMap<tg::Role, mlir::BlockArgument> roles;
  /// Shardings of arguments by name, without partial values: gradients and updates have none.
  llvm::StringMap<comm::ShardingAttr> shardings;
};

/// Whether a result is a counter of the model (`tg.output`, a float without dims), which a step reports.
bool isCounted(mlir::func::FuncOp function, unsigned result);

/// Adds one result.
void addResult(mlir::func::FuncOp function, mlir::Value value, llvm::StringRef attribute, llvm::StringRef text);
void addResult(mlir::func::FuncOp function, mlir::Value value, tg::Role role);
void eraseResults(mlir::func::FuncOp function, llvm::function_ref<bool(unsigned)> drop);
/// Writes the types of the entry block and of the return into the function's type.
void updateType(mlir::func::FuncOp function);

/// Erases ops without effects whose results have no uses.
void eraseDeadOps(mlir::Block &block);
inline void eraseDeadOps(mlir::func::FuncOp function) { eraseDeadOps(function.getBody().front()); }
/// Erases inputs (not parameters or states) that have no uses.
void eraseUnusedInputs(mlir::func::FuncOp function);

} // namespace braid

#endif // BRAID_PASSES_BASE_SIGNATURE_H
