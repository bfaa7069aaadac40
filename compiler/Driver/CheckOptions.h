//===- CheckOptions.h - checks options before any work is done --*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_CHECKOPTIONS_H
#define BRAID_COMPILER_DRIVER_CHECKOPTIONS_H

#include "compiler/Driver/Options.h"
#include "llvm/Support/Error.h"

namespace braid {

/// Resolves and checks the options that shape programs.
llvm::Error resolveOptions(DriverOptions &options);

/// Resolves all options, and refuses wrong ones.
llvm::Error checkOptions(DriverOptions &options);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_CHECKOPTIONS_H
