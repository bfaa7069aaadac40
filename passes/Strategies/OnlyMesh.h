//===- OnlyMesh.h - the mesh of a module, and named axes --------*- C++ -*-===//
#ifndef BRAID_PASSES_STRATEGIES_ONLYMESH_H
#define BRAID_PASSES_STRATEGIES_ONLYMESH_H

#include "lib/Sharding/GlobalFunction.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// Returns the only mesh of a module. Emits an error that names the pass if the module has no mesh or several.
mlir::FailureOr<GlobalMesh> onlyMesh(mlir::ModuleOp module, llvm::StringRef pass);

/// Returns the axes named by an option; a mesh need not have them.
comm::AxesAttr axesNamed(mlir::MLIRContext *context, llvm::ArrayRef<std::string> names);

} // namespace braid

#endif // BRAID_PASSES_STRATEGIES_ONLYMESH_H
