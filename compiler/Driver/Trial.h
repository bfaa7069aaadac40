//===- Trial.h - plans a graph with trial options ---------------*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_TRIAL_H
#define BRAID_COMPILER_DRIVER_TRIAL_H

#include "compiler/Driver/Options.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// Costs of a plan.
struct Trial {
  int64_t arenaBytes;
  /// Bytes of the activations at the peak.
  int64_t activationBytes;
  /// Predicted seconds of a step.
  double seconds;
};

/// Plans a copy of `module`, which has gone through the phase `behind`. Keeps a memory limit if a plan does, and
/// otherwise takes the plan that exceeds it least. Reports errors, but no remarks.
mlir::FailureOr<Trial> tryPlan(mlir::ModuleOp module, DriverOptions options, llvm::StringRef behind);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_TRIAL_H
