//===- TargetOptions.h - what --target says, and what it rules out -*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_TARGETOPTIONS_H
#define BRAID_LIB_DRIVER_TARGETOPTIONS_H

#include "lib/Driver/Options.h"
#include "llvm/Support/Error.h"

namespace braid {

/// Splits `cuda:sm_90` into target and GPU and finds the compiler.  An error for an
/// unknown target, for a GPU that it does not compile for, and for options of another
/// target.
llvm::Error resolveTarget(DriverOptions &options);

/// Whether what `options` ask for can be compiled on this machine.
llvm::Error checkCompiler(const DriverOptions &options);

} // namespace braid

#endif // BRAID_LIB_DRIVER_TARGETOPTIONS_H
