//===- Summary.h - what an imported graph consists of -----------*- C++ -*-===//
#ifndef BRAID_TOOLS_BRAIDIMPORT_SUMMARY_H
#define BRAID_TOOLS_BRAIDIMPORT_SUMMARY_H

#include "lib/Import/Recognize.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// Returns the names of the parameters of @model.
std::vector<std::string> parameterNames(mlir::ModuleOp module);

/// Prints inputs, the number and bytes of parameters, FLOPs of forward, ops by name, and recognized patterns.
void printSummary(llvm::raw_ostream &os, mlir::ModuleOp module, const Recognized &recognized);

} // namespace braid

#endif // BRAID_TOOLS_BRAIDIMPORT_SUMMARY_H
