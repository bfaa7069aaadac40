//===- DecayGroups.h - weight decay groups of parameters --------*- C++ -*-===//
#ifndef BRAID_PASSES_AUTODIFF_DECAYGROUPS_H
#define BRAID_PASSES_AUTODIFF_DECAYGROUPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Returns the group of a parameter for `decay-exclude`: norms, biases, embeddings or weights. After `tg-note-groups`
/// an attribute of the argument holds it; before, it follows from the parameter's readers and dims.
llvm::StringRef decayGroupOf(mlir::BlockArgument parameter);

/// Stores the group of each parameter on its argument; keeps a group that is already there.
void noteDecayGroups(mlir::func::FuncOp function);

/// Removes the groups from all arguments.
void removeDecayGroups(mlir::func::FuncOp function);

} // namespace braid

#endif // BRAID_PASSES_AUTODIFF_DECAYGROUPS_H
