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

/// The phases, in their order. `options` select those that run.
enum class Phase {
  Prepare,
  Layout,
  Programs,
  Differentiate,
  Optimizer,
  Annotate,
  Partition,
  Decompose,
  Recompute,
  Stages,
  Collectives,
  Actions,
  Order,
  Offload,
  Overlap,
  Memory
};

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

/// Lowers `module` to the level of `options.emit` by the phases from `begin` up to, but not including, `end`; without
/// `end`, to the last.
mlir::LogicalResult runPhases(mlir::ModuleOp module, const DriverOptions &options, Phase begin = Phase::Prepare,
                              std::optional<Phase> end = {}, PhaseClock *clock = nullptr);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_PIPELINE_H
