//===- Pipeline.h - the phases that braidc runs -----------------*- C++ -*-===//
//
// Which of the pipelines of passes/Pipelines run, with what the driver's options say, and
// a graph on its way through them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_DRIVER_PIPELINE_H
#define BRAID_LIB_DRIVER_PIPELINE_H

#include "lib/Driver/Options.h"
#include "lib/Report/Report.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace braid {

struct Phase {
  std::string name;
  /// Adds its passes to a manager of modules.
  std::function<void(mlir::OpPassManager &manager)> build;
  /// Whether its remarks are details, which -v shows.
  bool isTalkative = false;
  /// Whether its programs have kernels with bodies, whose verification takes longer than most passes.
  bool hasKernels = false;
};

/// The phases up to what `options.emit` asks for; `options` must outlive them.
std::vector<Phase> buildPhases(const DriverOptions &options);

/// The phase that is left by composites, before they are decomposed.
std::string lastPhaseWithComposites(const DriverOptions &options);

/// Prints all phases as one pipeline that braid-opt takes.
void printPipeline(llvm::raw_ostream &os, llvm::ArrayRef<Phase> phases);

/// Notes how long phases take.
class PhaseClock {
public:
  explicit PhaseClock(bool verbose) : verbose(verbose) {}
  /// Does `work` and adds its time to that of `phase`.
  mlir::LogicalResult time(llvm::StringRef phase, llvm::function_ref<mlir::LogicalResult()> work);
  llvm::ArrayRef<PhaseSeconds> seconds() const { return phases; }

private:
  bool verbose;
  std::vector<PhaseSeconds> phases;
};

/// Brings a graph down to what `options.emit` asks for.
class Lowering {
public:
  Lowering(const DriverOptions &options, PhaseClock &clock) : options(options), clock(clock) {}
  mlir::LogicalResult run(mlir::ModuleOp module);
  /// The phases up to the one of this name.
  mlir::LogicalResult runThrough(mlir::ModuleOp module, llvm::StringRef last) { return runOn(module, "", last); }
  /// The phases behind the one of a name, or all; up to another, or all that are left.
  mlir::LogicalResult runOn(mlir::ModuleOp module, llvm::StringRef behind, llvm::StringRef last = "");

  /// The phase that plans memory, alone.
  mlir::LogicalResult runMemory(mlir::ModuleOp module) { return run(module, buildPhases(options).back()); }

private:
  mlir::LogicalResult run(mlir::ModuleOp module, const Phase &phase);
  mlir::LogicalResult run(mlir::ModuleOp module, llvm::ArrayRef<Phase> phases);
  void remarkOnLimit(mlir::ModuleOp module);

  const DriverOptions &options;
  PhaseClock &clock;
};

} // namespace braid

#endif // BRAID_LIB_DRIVER_PIPELINE_H
