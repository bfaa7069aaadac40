//===- OnlyMesh.h - the mesh of a module, and axes by their names -*- C++ -*-===//
#ifndef BRAID_PASSES_STRATEGIES_ONLYMESH_H
#define BRAID_PASSES_STRATEGIES_ONLYMESH_H

#include "lib/Sharding/GlobalFunction.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// The one mesh that a strategy annotates for; an error in the pass's name where a module has
/// none or several.
mlir::FailureOr<GlobalMesh> onlyMesh(mlir::ModuleOp module, llvm::StringRef pass);

/// The axes of an option's names, which need not be those of a mesh.
comm::AxesAttr axesNamed(mlir::MLIRContext *context, llvm::ArrayRef<std::string> names);

} // namespace braid

#endif // BRAID_PASSES_STRATEGIES_ONLYMESH_H
