//===- PrecisionOptions.h - in which types is computed, understood -*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_PRECISIONOPTIONS_H
#define BRAID_LIB_DRIVER_PRECISIONOPTIONS_H

#include "lib/Driver/Options.h"
#include "llvm/Support/Error.h"

namespace braid {

/// Refuses types that there are not, and options that say nothing beside the others.
/// Runs once the options of ranks are resolved.
llvm::Error checkPrecisionOptions(const DriverOptions &options);

} // namespace braid

#endif // BRAID_LIB_DRIVER_PRECISIONOPTIONS_H
