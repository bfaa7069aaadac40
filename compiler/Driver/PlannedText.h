//===- PlannedText.h - compiles text that braidc wrote ----------*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_PLANNEDTEXT_H
#define BRAID_COMPILER_DRIVER_PLANNEDTEXT_H

#include "compiler/Driver/Pipeline.h"

namespace braid {

/// Returns the name that text of a later level states, or else that of the file.
std::string modelName(mlir::ModuleOp module, const DriverOptions &options);

/// Returns whether `module` is in memory form, as --emit=memory writes it.
bool isInMemory(mlir::ModuleOp module);

/// Checks the options for a module in memory form, which only needs translation. Refuses options
/// that shape a plan; the remaining options must agree with the existing plan. Takes the microbatches from it.
mlir::LogicalResult checkPlanned(mlir::ModuleOp module, DriverOptions &options);

/// Plans the memory of actions, as --emit=exec writes them. The options that shape programs must equal those of
/// --emit=exec, because some of them also shape the plan.
mlir::LogicalResult planActions(mlir::ModuleOp module, const DriverOptions &options, PhaseClock &clock);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_PLANNEDTEXT_H
