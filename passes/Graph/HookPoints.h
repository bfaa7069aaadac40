//===- HookPoints.h - finding hooks by name ----------------------*- C++ -*-===//
#ifndef BRAID_PASSES_GRAPH_HOOKPOINTS_H
#define BRAID_PASSES_GRAPH_HOOKPOINTS_H

#include "dialects/TG/TG.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// The hooks called `name`, by `order`, then as they stand in the module.
/// Fails with a message that names similar points when there is none.
mlir::FailureOr<llvm::SmallVector<tg::HookOp>> hooksNamed(mlir::ModuleOp module, llvm::StringRef name);

} // namespace braid

#endif // BRAID_PASSES_GRAPH_HOOKPOINTS_H
