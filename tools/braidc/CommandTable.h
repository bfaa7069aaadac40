//===- CommandTable.h - the command line of braidc --------------*- C++ -*-===//
#ifndef BRAID_TOOLS_BRAIDC_COMMANDTABLE_H
#define BRAID_TOOLS_BRAIDC_COMMANDTABLE_H

#include "cli/Option.h"

namespace braid {

/// The command table of braidc, which fills DriverOptions.
extern const cli::Command kBraidc;

} // namespace braid

#endif // BRAID_TOOLS_BRAIDC_COMMANDTABLE_H
