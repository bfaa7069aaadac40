//===- Lowering.h - a graph through the phases ------------------*- C++ -*-===//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_DRIVER_LOWERING_H
#define BRAID_LIB_DRIVER_LOWERING_H

#include "lib/Driver/Options.h"
#include "lib/Driver/Pipeline.h"
#include "lib/Report/Report.h"
#include "mlir/IR/OwningOpRef.h"

namespace braid {

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
  mlir::LogicalResult runThrough(mlir::ModuleOp module, llvm::StringRef last);

private:
  mlir::LogicalResult run(mlir::ModuleOp module, const Phase &phase);
  mlir::LogicalResult run(mlir::ModuleOp module, llvm::ArrayRef<Phase> phases);
  void remarkOnLimit(mlir::ModuleOp module);

  const DriverOptions &options;
  PhaseClock &clock;
};

} // namespace braid

#endif // BRAID_LIB_DRIVER_LOWERING_H
