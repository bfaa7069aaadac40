//===- Pipeline.h - which passes run, and why in this order -----*- C++ -*-===//
//
// A phase is a textual pass pipeline, so that `braidc --print-pipeline` shows
// exactly what runs and `braid-opt --pass-pipeline=...` repeats it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_DRIVER_PIPELINE_H
#define BRAID_LIB_DRIVER_PIPELINE_H

#include "lib/Driver/Options.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

struct Phase {
  std::string name;
  /// Passes on a module, separated by commas.
  std::string passes;
  /// Whether its remarks are details, which -v shows.
  bool isTalkative = false;
};

/// The phases up to what `options.emit` asks for.
std::vector<Phase> buildPhases(const DriverOptions &options);

/// All phases as one pipeline that braid-opt takes.
std::string pipelineText(llvm::ArrayRef<Phase> phases);

/// Runs one phase; errors are reported on the ops.
mlir::LogicalResult runPhase(mlir::ModuleOp module, const Phase &phase);

} // namespace braid

#endif // BRAID_LIB_DRIVER_PIPELINE_H
