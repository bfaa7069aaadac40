//===- Codegen.h - from a program in memory form to C++ ---------*- C++ -*-===//
//
// The one translator.  Its input is a module in memory form; its output is the
// source of a training binary: `kernels.h` (a function for each exec.kernel_def),
// `step.cpp` (a function for each exec.program) and `model.cpp` (the tables that
// the runtime reads, and main).  For CUDA the first two are `kernels.cuh` and
// `step.cu`.  The same module gives the same bytes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_CODEGEN_H
#define BRAID_LIB_CODEGEN_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>
#include <vector>

namespace braid {

/// A loss that leaves out targets of this index, as br_loss tells the runtime.
struct IgnoredTargets {
  std::string input; ///< Its name.
  int32_t index = 0;
  bool isMean = true; ///< Of those that count; else their sum.
  bool rows = true;   ///< A row without other targets changes nothing.
};

/// An input whose numbers are indices, as br_io tells the runtime: those of [0, extent), and
/// `ignored`.
struct IndexedBy {
  std::string input; ///< Its name.
  int64_t extent = 0, ignored = 0;
};

/// What a model computes, as br_model tells the runtime; 0 and no text where it is not known.
struct ModelIdentity {
  uint64_t hash = 0;
  std::string operations; ///< A line for each kind of operation: how many there are, and what it does.
};

struct CodegenOptions {
  /// The model's name, for messages of the binary.
  std::string modelName = "model";
  /// The optimizer's name, then its settings, as br_model has them; empty where they are not known.
  std::string optimizer = {};
  /// Microbatches a step.
  int64_t accumulate = 1;
  /// As the graph says; a module in memory form only knows what it gathers by.
  std::vector<IndexedBy> indices = {};
  /// None where every target counts.
  std::optional<IgnoredTargets> ignored = {};
  /// The memory plan as JSON text, which the binary prints on request.
  std::string planJson = "{}";
  ModelIdentity identity = {};
};

struct SourceFile {
  std::string name, text;
};

/// The sources of `module` for what its `exec.target` says; reports an error on the op it
/// cannot translate.
mlir::FailureOr<std::vector<SourceFile>> generateSources(mlir::ModuleOp module, const CodegenOptions &options);

} // namespace braid

#endif // BRAID_LIB_CODEGEN_CODEGEN_H
