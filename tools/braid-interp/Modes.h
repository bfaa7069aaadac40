//===- Modes.h - modes of braid-interp --------------------------*- C++ -*-===//
#ifndef BRAID_TOOLS_INTERP_MODES_H
#define BRAID_TOOLS_INTERP_MODES_H

#include "tools/braid-interp/Options.h"

namespace braid::interp {

/// Applies a textual pass pipeline, or the pipeline in a file: `@file`.
mlir::LogicalResult applyPasses(mlir::ModuleOp module, llvm::StringRef pipeline);

/// Returns the function that the command line names, or all functions of the module.
std::vector<std::string> functionsOf(mlir::ModuleOp module, const Options &options);

/// Fails if --set names an input that no program of the modules has.
mlir::LogicalResult checkNames(llvm::ArrayRef<mlir::ModuleOp> modules, const Options &options);

mlir::LogicalResult runOnce(mlir::ModuleOp module, const Options &options);
mlir::LogicalResult runTraining(mlir::ModuleOp module, const Options &options);
mlir::LogicalResult runComparison(mlir::ModuleOp module, const Options &options);
mlir::LogicalResult checkGradients(mlir::ModuleOp module, const Options &options);

/// Calls `run` with the words of each line of a file (- is standard input), each in its own process, and prints the
/// exit status of each. Returns 0 if all ended with 0.
int runLines(const std::string &path, llvm::function_ref<int(llvm::ArrayRef<const char *> words)> run);

} // namespace braid::interp

#endif // BRAID_TOOLS_INTERP_MODES_H
