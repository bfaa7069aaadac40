//===- GraphFacts.h - facts of a graph that its programs lack ---*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_GRAPHFACTS_H
#define BRAID_LIB_DRIVER_GRAPHFACTS_H

#include "dialects/TG/TrainingFacts.h"
#include "lib/Driver/Options.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Returns the facts of the programs that `options` generate from a graph called `name`.
tg::TrainingFacts factsOf(mlir::func::FuncOp model, llvm::StringRef name, const DriverOptions &options);

} // namespace braid

#endif // BRAID_LIB_DRIVER_GRAPHFACTS_H
