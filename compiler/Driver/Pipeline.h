//===- Pipeline.h - the phases that braidc runs -----------------*- C++ -*-===//
//
// Selects pipelines of passes/Pipelines, sets their options from those of the driver, and runs a graph through them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_DRIVER_PIPELINE_H
#define BRAID_COMPILER_DRIVER_PIPELINE_H

#include "compiler/Driver/Options.h"
#include "compiler/Report/Report.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace braid {

struct Phase {
  std::string name;
  /// Adds the passes of the phase.
  std::function<void(PassList &passes)> build;
  /// Whether the remarks of the phase are details, which only -v shows.
  bool isTalkative = false;
  /// Whether the programs have kernels with bodies, whose verification takes longer than most passes.
  bool hasKernels = false;
};

/// Returns the phases up to the level of `options.emit`. `options` must outlive them.
std::vector<Phase> buildPhases(const DriverOptions &options);

/// Returns the name of the last phase before composites are decomposed.
std::string lastPhaseWithComposites(const DriverOptions &options);

/// Checks that every pass that --without names is optional.
llvm::Error checkWithout(const DriverOptions &options);

/// Prints all phases as one pipeline in the syntax of braid-opt. Returns its passes.
std::vector<PassList::Entry> printPipeline(llvm::raw_ostream &os, const DriverOptions &options);

/// Measures the time of each phase.
class PhaseClock {
public:
  explicit PhaseClock(bool verbose) : verbose(verbose) {}
  /// Runs `work` and adds its time to that of `phase`.
  mlir::LogicalResult time(llvm::StringRef phase, llvm::function_ref<mlir::LogicalResult()> work);
  llvm::ArrayRef<PhaseSeconds> seconds() const { return phases; }

private:
  bool verbose;
  std::vector<PhaseSeconds> phases;
};

/// Lowers a graph to the level of `options.emit`.
class Lowering {
public:
  Lowering(const DriverOptions &options, PhaseClock &clock) : options(options), clock(clock) {}
  mlir::LogicalResult run(mlir::ModuleOp module);
  /// Runs the phases up to and including `last`.
  mlir::LogicalResult runThrough(mlir::ModuleOp module, llvm::StringRef last) { return runOn(module, "", last); }
  /// Runs the phases after `behind` (all if it is empty) up to `last`, or to the end if that is empty.
  mlir::LogicalResult runOn(mlir::ModuleOp module, llvm::StringRef behind, llvm::StringRef last = "");

  /// Runs only the phase that plans memory.
  mlir::LogicalResult runMemory(mlir::ModuleOp module) { return run(module, buildPhases(options).back()); }

private:
  mlir::LogicalResult run(mlir::ModuleOp module, const Phase &phase);
  mlir::LogicalResult run(mlir::ModuleOp module, llvm::ArrayRef<Phase> phases);
  void remarkOnLimit(mlir::ModuleOp module);

  const DriverOptions &options;
  PhaseClock &clock;
};

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_PIPELINE_H
