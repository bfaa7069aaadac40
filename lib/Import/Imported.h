//===- Imported.h - options and results of an import ------------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_IMPORTED_H
#define BRAID_LIB_IMPORT_IMPORTED_H

#include "dialects/TG/TG.h"
#include "lib/Import/Recognize.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace braid {

/// Role of an input in training, as the user states it.
struct InputRole {
  std::string name;
  tg::Role role;
};

struct ImportOptions {
  std::vector<InputRole> roles;
  /// Arguments of a JAX function, or arrays of arguments, that are parameters without an update.
  std::vector<std::string> frozen;
};

/// A module with @model, and the patterns that were recognized in it.
struct Imported {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Recognized recognized;
};

/// A result of the model, and its name. If `isUpdate`, it is the new value of the parameter or state of this name.
struct ModelOutput {
  mlir::Value value;
  std::string name;
  bool isUpdate = false;
};

/// Ends a model whose arguments have these attributes: returns the outputs, of which the first float without dims is
/// the loss. Reports an error if no output is a loss; `remedy` says what returns it.
mlir::LogicalResult finishModel(mlir::func::FuncOp function, llvm::ArrayRef<mlir::DictionaryAttr> argumentAttributes,
                                llvm::ArrayRef<ModelOutput> outputs, llvm::StringRef remedy);

} // namespace braid

#endif // BRAID_LIB_IMPORT_IMPORTED_H
