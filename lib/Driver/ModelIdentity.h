//===- ModelIdentity.h - what a model computes, beside its shapes -*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_MODELIDENTITY_H
#define BRAID_LIB_DRIVER_MODELIDENTITY_H

#include "dialects/TG/TrainingFacts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// The operations of the forward graph up to its logits, or to its loss where it has none.  Checkpoints keep
/// them, because models of the same shapes may differ in heads, epsilons or activations.  They are the same for
/// every batch, sequence length, packing, room of experts, mesh and target; dropout is not among them.
tg::ModelIdentity identityOf(mlir::func::FuncOp model);

} // namespace braid

#endif // BRAID_LIB_DRIVER_MODELIDENTITY_H
