//===- Passes.td - from programs to training steps ---------*- tablegen -*-===//
//
// Gradients, microbatches and the optimizer (TrainingStep.td), and facts of ops (Facts.td), on tensors and on one device.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_AUTODIFF
#define BRAID_PASSES_AUTODIFF

include "passes/Autodiff/TrainingStep.td"
include "passes/Autodiff/Facts.td"

#endif // BRAID_PASSES_AUTODIFF
