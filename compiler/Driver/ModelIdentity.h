//===- ModelIdentity.h - operations that identify a model -------*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_MODELIDENTITY_H
#define BRAID_COMPILER_DRIVER_MODELIDENTITY_H

#include "dialects/TG/TrainingFacts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Returns the operations of the forward graph up to its logits, or up to its loss if it has no logits. Checkpoints
/// store them, because models with equal shapes may differ in heads, epsilons or activations. Batch, sequence length,
/// packing, expert capacity, mesh and target do not change them; dropout is left out.
tg::ModelIdentity identityOf(mlir::func::FuncOp model);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_MODELIDENTITY_H
