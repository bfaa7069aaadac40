//===- PrecisionOptions.h - checks the options of element types -*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_PRECISIONOPTIONS_H
#define BRAID_COMPILER_DRIVER_PRECISIONOPTIONS_H

#include "compiler/Driver/Options.h"
#include "llvm/Support/Error.h"

namespace braid {

/// Refuses unknown types, and options that have no effect with the others. Runs after the parallelism options are
/// resolved.
llvm::Error checkPrecisionOptions(const DriverOptions &options);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_PRECISIONOPTIONS_H
