//===- Signature.h - arguments and results of graph functions ---*- C++ -*-===//
//
// A graph function says what its arguments and results are by attributes (see
// the tg dialect).  These helpers find them and keep the function's type, its
// block and its return in step while passes add and take away.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_GRAPH_SIGNATURE_H
#define BRAID_PASSES_GRAPH_SIGNATURE_H

#include "dialects/Comm/Comm.h"
#include "dialects/TG/ProgramSignature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace braid {

mlir::func::ReturnOp returnOf(mlir::func::FuncOp function);

/// The result, or the argument, whose `tg.role` is `role`.
std::optional<unsigned> resultWithRole(mlir::func::FuncOp function, tg::Role role);
mlir::BlockArgument argumentWithRole(mlir::func::FuncOp function, tg::Role role);

using tg::parameterOf;
using tg::stateOf;
/// The facts of what hands on a parameter: a gather, a part.
tg::FactsAttr factsOfParameter(tg::ParamAttr parameter, tg::Phase phase);
/// Parameters by the names that the `of` of states refers to: a working copy by the name of its master.
llvm::StringMap<mlir::BlockArgument> parametersByOwner(mlir::func::FuncOp function);

/// The inputs whose dim 0 is the batch: tokens, targets, features and labels.
llvm::SmallVector<mlir::BlockArgument> batchInputs(mlir::func::FuncOp function);

/// Adds arguments and results behind those that are there.  The function is
/// whole again after `finish`; one write for all keeps passes linear.  What belongs
/// to an argument is sharded as it is: its gradient, its new value, its state.
class SignatureEditor {
public:
  explicit SignatureEditor(mlir::func::FuncOp function);

  mlir::BlockArgument addArgument(mlir::Type type, llvm::ArrayRef<mlir::NamedAttribute> attributes);
  /// The run-time scalar of a role, which is also its name; added when it is not there
  /// yet.
  mlir::BlockArgument scalarInput(tg::Role role, mlir::Type element);
  /// Adds a state of zeros; it belongs to `parameter` and is stored as that is, if
  /// there is one.
  mlir::BlockArgument addState(mlir::Type type, llvm::StringRef name, tg::TensorKind kind,
                               mlir::BlockArgument parameter);
  /// Adds a result with one string attribute, or with a role.
  void addResult(mlir::Value value, llvm::StringRef attribute, llvm::StringRef text);
  void addResult(mlir::Value value, tg::Role role);
  void finish();

private:
  mlir::func::FuncOp function;
  mlir::Builder builder;
  /// What the next argument's attributes say of its name and sharding.
  void noteSharding(mlir::DictionaryAttr attributes);

  llvm::SmallVector<mlir::DictionaryAttr> argumentAttributes, resultAttributes;
  llvm::SmallVector<mlir::Value> results;
  llvm::DenseMap<tg::Role, mlir::BlockArgument> roles;
  /// Annotations of arguments by name, without partial values: neither gradients
  /// nor updates have any.
  llvm::StringMap<comm::ShardingAttr> shardings;
};

/// Whether a result is a number that the model counts (`tg.output`, a float without dims), which a
/// step reports.
bool isCounted(mlir::func::FuncOp function, unsigned result);

/// Adds one result.
void addResult(mlir::func::FuncOp function, mlir::Value value, llvm::StringRef attribute, llvm::StringRef text);
void addResult(mlir::func::FuncOp function, mlir::Value value, tg::Role role);
void eraseResults(mlir::func::FuncOp function, llvm::function_ref<bool(unsigned)> drop);
/// Writes the types of the entry block and of the return into the function's type.
void updateType(mlir::func::FuncOp function);

/// Erases the ops that nothing needs.
void eraseDeadOps(mlir::func::FuncOp function);
/// Erases the inputs (not parameters or states) that nothing reads.
void eraseUnusedInputs(mlir::func::FuncOp function);

} // namespace braid

#endif // BRAID_PASSES_GRAPH_SIGNATURE_H
