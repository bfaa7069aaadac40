//===- WriteOutput.h - writes what --emit and --report name -----*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_WRITEOUTPUT_H
#define BRAID_COMPILER_DRIVER_WRITEOUTPUT_H

#include "compiler/Driver/Pipeline.h"

namespace braid {

/// Returns whether `path` names an HTML page.
inline bool isPage(llvm::StringRef path) { return path.ends_with(".html"); }

/// Writes the text of `module`.
mlir::LogicalResult writeModule(mlir::ModuleOp module, const DriverOptions &options);

/// Writes the text, the sources or the binary of a module in memory form, and its report. `program` is argv[0].
mlir::LogicalResult writeOutput(mlir::ModuleOp module, const Report &summary, const DriverOptions &options,
                                PhaseClock &clock, const char *program);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_WRITEOUTPUT_H
