//===- GraphFacts.h - facts of a graph beside its programs ------*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_GRAPHFACTS_H
#define BRAID_LIB_DRIVER_GRAPHFACTS_H

#include "dialects/TG/TrainingFacts.h"
#include "lib/Driver/Options.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// The facts of the programs that `options` make of a graph of this name.
tg::TrainingFacts factsOf(mlir::func::FuncOp model, llvm::StringRef name, const DriverOptions &options);

} // namespace braid

#endif // BRAID_LIB_DRIVER_GRAPHFACTS_H
