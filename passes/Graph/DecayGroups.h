//===- DecayGroups.h - which parameters decay --------------------*- C++ -*-===//
#ifndef BRAID_PASSES_GRAPH_DECAYGROUPS_H
#define BRAID_PASSES_GRAPH_DECAYGROUPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// The group of a parameter as `decay-exclude` names it: norms, biases, embeddings or weights.  The argument says it
/// behind `tg-note-groups`; else it follows from what reads the parameter and from its dims.
llvm::StringRef decayGroupOf(mlir::BlockArgument parameter);

/// Notes the group of each parameter on its argument; a group that is there already stays.
void noteDecayGroups(mlir::func::FuncOp function);

/// Removes what arguments say of groups.
void forgetDecayGroups(mlir::func::FuncOp function);

} // namespace braid

#endif // BRAID_PASSES_GRAPH_DECAYGROUPS_H
