//===- Codegen.h - from a program in memory form to C++ ---------*- C++ -*-===//
//
// The only translator. Its input is a module in memory form, and its output is the source of a training binary:
// `kernels.h` (a function for each exec.kernel_def), `step.cpp` (a function for each exec.program) and `model.cpp` (the
// tables that the runtime reads, and main). For CUDA the first two are `kernels.cuh` and `step.cu`. Equal modules give
// equal bytes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_CODEGEN_H
#define BRAID_COMPILER_CODEGEN_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace braid {

struct SourceFile {
  std::string name, text;
};

/// Returns the sources of `module` for its `exec.target` and `tg.training`. Reports an error on an op that it cannot
/// translate. `planJson` is the memory plan as JSON text, which the binary prints on request.
mlir::FailureOr<std::vector<SourceFile>> generateSources(mlir::ModuleOp module, llvm::StringRef planJson);

} // namespace braid

#endif // BRAID_COMPILER_CODEGEN_CODEGEN_H
