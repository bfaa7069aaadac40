//===- ForwardFacts.h - the facts of a model's ops --------------*- C++ -*-===//
#ifndef BRAID_PASSES_GRAPH_FORWARDFACTS_H
#define BRAID_PASSES_GRAPH_FORWARDFACTS_H

#include "dialects/TG/Facts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// The unit of each op of a function of one block: that of the first parameter that it
/// reads, directly or through what is made of parameters alone; else, of the units that its
/// operands are made in, the one that the function comes to last.  Ops of the root unit map
/// to null, and so do those that read inputs only.
llvm::DenseMap<mlir::Operation *, mlir::StringAttr> unitsOfOps(mlir::func::FuncOp function);

/// Gives an op a phase and a unit; a null unit is the root's.
void setFacts(mlir::Operation *op, tg::Phase phase, mlir::StringAttr unit);

/// Says of every op that it is forward, and its unit; and what makes running statistics, down
/// to what they are made of element by element.
void setForwardFacts(mlir::func::FuncOp function);

/// Says what the new values of parameters and states are, as their arguments do.
void setFactsOfUpdates(mlir::func::FuncOp function);

} // namespace braid

#endif // BRAID_PASSES_GRAPH_FORWARDFACTS_H
