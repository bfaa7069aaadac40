//===- Trial.h - what some options would lead to ----------------*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_TRIAL_H
#define BRAID_LIB_DRIVER_TRIAL_H

#include "lib/Driver/Options.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// What a plan takes.
struct Trial {
  int64_t arenaBytes;
  /// The activations at the peak.
  int64_t activationBytes;
  /// A step, as predicted.
  double seconds;
};

/// Plans a copy of `module`, which the phase `behind` has left.  A memory limit is kept where it
/// can be, and exceeded by as little as can be otherwise.  Errors are reported, remarks are not.
mlir::FailureOr<Trial> tryPlan(mlir::ModuleOp module, DriverOptions options, llvm::StringRef behind);

} // namespace braid

#endif // BRAID_LIB_DRIVER_TRIAL_H
