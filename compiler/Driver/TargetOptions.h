//===- TargetOptions.h - resolves --target, checks options ------*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_TARGETOPTIONS_H
#define BRAID_COMPILER_DRIVER_TARGETOPTIONS_H

#include "compiler/Driver/Options.h"
#include "lib/Target/TargetInfo.h"
#include "llvm/Support/Error.h"

namespace braid {

/// Splits `cuda:sm_90` into target and GPU and finds the compiler. Returns an error for an unknown target, an
/// unsupported GPU, or options of another target.
llvm::Error resolveTarget(DriverOptions &options);

/// Returns the row of the target that `options` name.
const TargetInfo &targetOf(const DriverOptions &options);

/// Checks that this machine has the compiler that `options` need.
llvm::Error checkCompiler(const DriverOptions &options);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_TARGETOPTIONS_H
