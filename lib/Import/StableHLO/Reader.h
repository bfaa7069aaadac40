//===- Reader.h - the text of a JAX function as a module --------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_STABLEHLO_READER_H
#define BRAID_LIB_IMPORT_STABLEHLO_READER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace braid::stablehlo {

/// Place of a leaf in the pytree of arguments or results: params['h'][0]['w'] has the root params and the leaf h.0.w.
/// The root of a result is its first key: result[1]['w'] has the root 1. A leaf without keys is empty.
struct LeafPath {
  std::string root, leaf;

  /// Returns the keys with dots between them, such as params.h.0.w.
  std::string text() const { return leaf.empty() ? root : root + "." + leaf; }
};

/// An argument of the function that was lowered.
struct Argument {
  /// Name of the leaf of the pytree: params['h'][0]['w'] is h.0.w, and batch['tokens'] is tokens.
  std::string name;
  LeafPath path;
  mlir::BlockArgument value;
  /// Whether the function may overwrite it, by donate_argnums of jax.jit.
  bool isDonated;
};

/// A program: a module whose function @main is public, and its private functions.
struct Program {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
  std::vector<Argument> arguments;
  /// Places of results. Both keys are empty if the text does not state them, and for a function that returns one array.
  std::vector<LeafPath> results;
};

/// Reads the generic form of a module that JAX has lowered. Errors name the file.
llvm::Expected<Program> readProgram(llvm::StringRef path, mlir::MLIRContext &context);

/// Returns the keys of a path in a pytree, with the name of the argument itself first; none if the text is no path.
llvm::SmallVector<std::string> keysOf(llvm::StringRef path);

} // namespace braid::stablehlo

#endif // BRAID_LIB_IMPORT_STABLEHLO_READER_H
