//===- PrintIr.h - prints the IR after a pass -------------------*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_PRINTIR_H
#define BRAID_COMPILER_DRIVER_PRINTIR_H

#include "compiler/Driver/Pipeline.h"
#include "llvm/Support/Error.h"

namespace braid {

/// Value of --print-ir-after for every pass.
inline constexpr llvm::StringLiteral kAllPasses = "all";

/// Checks that every pass that --print-ir-after names runs in one of the phases.
llvm::Error checkPrintedPasses(const DriverOptions &options);

/// Prints the IR to standard error after the passes that --print-ir-after names.
void printIrAfter(mlir::PassManager &manager, const DriverOptions &options);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_PRINTIR_H
