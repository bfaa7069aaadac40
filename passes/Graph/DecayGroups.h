//===- DecayGroups.h - which parameters decay --------------------*- C++ -*-===//
#ifndef BRAID_PASSES_GRAPH_DECAYGROUPS_H
#define BRAID_PASSES_GRAPH_DECAYGROUPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// The group of a parameter as `decay-exclude` names it: norms, biases, embeddings or weights.  It follows
/// from what reads the parameter.
llvm::StringRef decayGroupOf(mlir::BlockArgument parameter);

/// Writes it down, for a function that is about to lose what reads its parameters; and takes it away.
void noteDecayGroups(mlir::func::FuncOp function);
void forgetDecayGroups(mlir::func::FuncOp function);

} // namespace braid

#endif // BRAID_PASSES_GRAPH_DECAYGROUPS_H
