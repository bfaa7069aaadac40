//===- Passes.td - passes over the training graph ---------------*- tablegen -*-===//
//
// From the model's forward graph to the programs of a training step, all on
// tensors and on one device.  Order: transpose-weights, (rebatch), differentiate,
// attach/remove-hooks, apply-optimizer, canonicalize, decompose, verify.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_GRAPH
#define BRAID_PASSES_GRAPH

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Differentiation
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// The training step
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// Towards exec
//===----------------------------------------------------------------------===//

#endif // BRAID_PASSES_GRAPH
