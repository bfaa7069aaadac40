//===- Pipeline.h - the phases that braidc runs -----------------*- C++ -*-===//
//
// Which of the pipelines of passes/Pipelines run, with what the driver's options say.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_DRIVER_PIPELINE_H
#define BRAID_LIB_DRIVER_PIPELINE_H

#include "lib/Driver/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace braid {

struct Phase {
  std::string name;
  /// Adds its passes to a manager of modules.
  std::function<void(mlir::OpPassManager &manager)> build;
  /// Whether its remarks are details, which -v shows.
  bool isTalkative = false;
};

/// The phases up to what `options.emit` asks for; `options` must outlive them.
std::vector<Phase> buildPhases(const DriverOptions &options);

/// Prints all phases as one pipeline that braid-opt takes.
void printPipeline(llvm::raw_ostream &os, llvm::ArrayRef<Phase> phases);

/// Runs one phase; errors are reported on the ops.
mlir::LogicalResult runPhase(mlir::ModuleOp module, const Phase &phase);

} // namespace braid

#endif // BRAID_LIB_DRIVER_PIPELINE_H
