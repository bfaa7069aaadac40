//===- ProgramSignature.h - arguments and results of programs ---*- C++ -*-===//
//
// Attributes describe the arguments and results of a function (see the tg dialect).
// `ArgumentAttrs` and `ResultAttrs` hold the attributes of one argument or result.
// `ProgramSignature` maps results to the arguments that they update, and gradients to
// their parameters. No other code reads these attributes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_PROGRAMSIGNATURE_H
#define BRAID_DIALECTS_TG_PROGRAMSIGNATURE_H

#include "dialects/TG/TG.h"
#include "llvm/ADT/DenseMap.h"

namespace braid::tg {

/// Attributes of one argument; each is null where the argument lacks it.
struct ArgumentAttrs {
  explicit ArgumentAttrs(mlir::DictionaryAttr attributes);
  ArgumentAttrs(mlir::FunctionOpInterface function, unsigned argument);
  /// All attributes are null for a value that is no argument of a function.
  explicit ArgumentAttrs(mlir::Value value);

  /// Returns the `#tg.param` or `#tg.state` of a tensor that lives across steps; null for inputs.
  mlir::Attribute persistent() const { return parameter ? mlir::Attribute(parameter) : mlir::Attribute(state); }
  /// Returns the name of that parameter or state.
  mlir::StringAttr persistentName() const;

  ParamAttr parameter;
  StateAttr state;
  mlir::StringAttr input; ///< Name of an input.
  RoleAttr role;
};

/// Attributes of one result; each is null where the result lacks it.
struct ResultAttrs {
  explicit ResultAttrs(mlir::DictionaryAttr attributes);
  ResultAttrs(mlir::FunctionOpInterface function, unsigned result);

  bool hasRole(Role wanted) const { return role && role.getValue() == wanted; }
  /// Returns the attribute that identifies the result, for messages: `tg.updates = "w"`. Empty without one.
  std::string text() const;

  mlir::StringAttr updates;    ///< Name of the parameter or state whose new value the result is.
  mlir::StringAttr gradientOf; ///< Name of the tensor whose gradient the result is.
  mlir::StringAttr output;     ///< Name of an additional output of the model.
  RoleAttr role;
};

/// Return the attributes of a parameter's or a state's argument; null for other values, null included.
ParamAttr parameterOf(mlir::Value value);
StateAttr stateOf(mlir::Value value);

/// Returns the name of the tensor that a program updates by returning the used value; null for other uses.
mlir::StringAttr updatedTensorName(mlir::OpOperand &use);

/// Signature of a function with a body. It is a snapshot: arguments and results that are added later are unknown.
class ProgramSignature {
public:
  explicit ProgramSignature(mlir::FunctionOpInterface program);

  /// Returns the argument of the parameter or state with this name, or null.
  mlir::BlockArgument persistent(mlir::StringAttr name) const { return byName.lookup(name); }
  /// Returns the argument whose new value is this result; null for other results.
  mlir::BlockArgument updatedArgument(unsigned result) const { return byName.lookup(results[result].updates); }
  /// Returns the parameter whose gradient is this result; null for other results, such as gradients of inputs.
  mlir::BlockArgument parameterOfGradient(unsigned result) const;
  /// Returns the return operand that is the new value of an argument; null if the program returns none.
  mlir::OpOperand *updateOf(mlir::BlockArgument argument) const;
  /// Calls `visit` with each return operand that is a new value, and with the argument that it updates.
  void forEachUpdate(llvm::function_ref<void(mlir::OpOperand &, mlir::BlockArgument)> visit) const;
  /// Returns whether a result is the new value of a parameter. A model with such a result is a whole training step: it
  /// has gradients and an optimizer of its own.
  bool updatesParameters() const;

  const ResultAttrs &result(unsigned number) const { return results[number]; }
  llvm::ArrayRef<ResultAttrs> getResults() const { return results; }

private:
  mlir::Operation *terminator;
  llvm::SmallVector<ResultAttrs> results;
  llvm::DenseMap<mlir::StringAttr, mlir::BlockArgument> byName;
  llvm::DenseMap<mlir::BlockArgument, unsigned> updates;
};

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_PROGRAMSIGNATURE_H
