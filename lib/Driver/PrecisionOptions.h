//===- PrecisionOptions.h - checks the options of element types -*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_PRECISIONOPTIONS_H
#define BRAID_LIB_DRIVER_PRECISIONOPTIONS_H

#include "lib/Driver/Options.h"
#include "llvm/Support/Error.h"

namespace braid {

/// Refuses unknown types, and options that have no effect with the others. Runs after the parallelism options are
/// resolved.
llvm::Error checkPrecisionOptions(const DriverOptions &options);

} // namespace braid

#endif // BRAID_LIB_DRIVER_PRECISIONOPTIONS_H
