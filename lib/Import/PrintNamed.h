//===- PrintNamed.h - a graph with the names of its arguments ---*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_PRINTNAMED_H
#define BRAID_LIB_IMPORT_PRINTNAMED_H

#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// Prints a module with one function, and its locations. Arguments are called like their parameters and inputs:
/// `%h_0_attn_weight`, `%input_ids`.
void printNamed(llvm::raw_ostream &os, mlir::ModuleOp module);

} // namespace braid

#endif // BRAID_LIB_IMPORT_PRINTNAMED_H
