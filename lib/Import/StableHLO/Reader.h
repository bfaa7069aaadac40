//===- Reader.h - the text of a JAX function as a module --------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_STABLEHLO_READER_H
#define BRAID_LIB_IMPORT_STABLEHLO_READER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace braid::stablehlo {

/// An argument of the function that was lowered.
struct Argument {
  /// Name of the leaf of the pytree: params['h'][0]['w'] is h.0.w, and batch['tokens'] is tokens.
  std::string name;
  mlir::BlockArgument value;
};

/// A program: a module whose function @main is public, and its private functions.
struct Program {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
  std::vector<Argument> arguments;
};

/// Reads the generic form of a module that JAX has lowered. Errors name the file.
llvm::Expected<Program> readProgram(llvm::StringRef path, mlir::MLIRContext &context);

/// Returns the name of a leaf from its path in the arguments' pytree, without the name of the argument itself; empty
/// if the text is no path.
std::string nameOfLeaf(llvm::StringRef path);

} // namespace braid::stablehlo

#endif // BRAID_LIB_IMPORT_STABLEHLO_READER_H
