//===- GraphFacts.h - facts of a graph that its programs lack ---*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_GRAPHFACTS_H
#define BRAID_COMPILER_DRIVER_GRAPHFACTS_H

#include "compiler/Driver/Options.h"
#include "dialects/TG/TrainingFacts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Returns the facts of the programs that `options` generate from a graph called `name`.
tg::TrainingFacts factsOf(mlir::func::FuncOp model, llvm::StringRef name, const DriverOptions &options);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_GRAPHFACTS_H
