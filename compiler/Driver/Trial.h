//===- Trial.h - cost of a plan ---------------------------------*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_TRIAL_H
#define BRAID_COMPILER_DRIVER_TRIAL_H

#include "compiler/Driver/Pipeline.h"

namespace braid {

struct PlanCost {
  int64_t arenaBytes;
  /// Bytes of the activations at the peak.
  int64_t activationBytes;
  /// Predicted seconds of a step.
  double seconds;
};

/// Returns the options of a plan that is made only for its cost.
DriverOptions optionsOfTrial(DriverOptions options);

/// Plans `module` in place, from the phase `begin` on. Keeps a memory limit if a plan does, and otherwise takes the
/// plan that exceeds it least. Reports errors, but no remarks.
mlir::FailureOr<PlanCost> planTrial(mlir::ModuleOp module, const DriverOptions &options, Phase begin);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_TRIAL_H
