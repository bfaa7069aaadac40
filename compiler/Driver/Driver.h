//===- Driver.h - from a graph to a training binary -------------*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_DRIVER_H
#define BRAID_COMPILER_DRIVER_DRIVER_H

#include "compiler/Driver/Options.h"

namespace braid {

/// Runs the compiler with `options`; `program` is argv[0]. Messages go to standard error. Returns the exit status.
int runDriver(const DriverOptions &options, const char *program);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_DRIVER_H
