//===- Driver.h - from a graph to a training binary -------------*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_DRIVER_H
#define BRAID_LIB_DRIVER_DRIVER_H

#include "lib/Driver/Options.h"

namespace braid {

/// Does what `options` say; messages go to standard error.  `program` is argv[0].
/// Returns the exit status.
int runDriver(const DriverOptions &options, const char *program);

} // namespace braid

#endif // BRAID_LIB_DRIVER_DRIVER_H
