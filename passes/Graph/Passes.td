//===- Passes.td - passes over the training graph ---------------*- tablegen -*-===//
//
// From the model's forward graph to the programs of a training step, all on
// tensors and on one device.  Order: the training step (TrainingStep.td), which
// includes differentiation (Differentiation.td) and precision (Precision.td), then
// canonicalize, decompose, verify (Primitives.td).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_GRAPH
#define BRAID_PASSES_GRAPH

include "passes/Graph/TrainingStep.td"
include "passes/Graph/Differentiation.td"
include "passes/Graph/Precision.td"
include "passes/Graph/Primitives.td"
include "passes/Graph/Facts.td"

#endif // BRAID_PASSES_GRAPH
