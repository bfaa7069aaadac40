//===- ProgramSignature.h - arguments and results of programs ---*- C++ -*-===//
//
// Attributes say what the arguments and results of a function are (see the tg dialect).
// `ArgumentAttrs` and `ResultAttrs` hold the attributes of one argument or result;
// `ProgramSignature` relates results to the arguments that they update, and gradients to
// their parameters.  Nothing else reads these attributes.
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

  /// The `#tg.param` or `#tg.state` of a tensor that lives across steps; null for inputs.
  mlir::Attribute persistent() const { return parameter ? mlir::Attribute(parameter) : mlir::Attribute(state); }
  /// The name of that parameter or state.
  mlir::StringAttr persistentName() const;

  ParamAttr parameter;
  StateAttr state;
  mlir::StringAttr input; ///< The name of an input.
  RoleAttr role;
};

/// Attributes of one result; each is null where the result lacks it.
struct ResultAttrs {
  explicit ResultAttrs(mlir::DictionaryAttr attributes);
  ResultAttrs(mlir::FunctionOpInterface function, unsigned result);

  bool hasRole(Role wanted) const { return role && role.getValue() == wanted; }
  /// The attribute that tells the result apart, for messages: `tg.updates = "w"`; empty without one.
  std::string text() const;

  mlir::StringAttr updates;    ///< The name of the parameter or state whose new value the result is.
  mlir::StringAttr gradientOf; ///< The name of the tensor whose gradient the result is.
  mlir::StringAttr output;     ///< The name of an additional output of the model.
  RoleAttr role;
};

/// Attributes of the argument of a parameter or of a state; null for other values, null included.
ParamAttr parameterOf(mlir::Value value);
StateAttr stateOf(mlir::Value value);

/// The name of the tensor that a program updates by returning the used value; null for other uses.
mlir::StringAttr nameUpdatedBy(mlir::OpOperand &use);

/// The signature of a function with a body, as it is when this is constructed.  Arguments and results that are
/// added later are unknown.
class ProgramSignature {
public:
  explicit ProgramSignature(mlir::FunctionOpInterface program);

  /// The argument of a parameter or state of this name; null if there is none.
  mlir::BlockArgument persistent(mlir::StringAttr name) const { return byName.lookup(name); }
  /// The argument whose new value a result is; null for other results.
  mlir::BlockArgument updatedBy(unsigned result) const { return byName.lookup(results[result].updates); }
  /// The parameter whose gradient a result is; null for other results, such as gradients of inputs.
  mlir::BlockArgument parameterOfGradient(unsigned result) const;
  /// The operand of the return that is the new value of an argument; null where the program returns none.
  mlir::OpOperand *updateOf(mlir::BlockArgument argument) const;
  /// Calls `visit` with each operand of the return that is a new value, and the argument whose it is.
  void forEachUpdate(llvm::function_ref<void(mlir::OpOperand &, mlir::BlockArgument)> visit) const;

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
