//===- Passes.td - programs that need less memory --------------*- tablegen -*-===//
//
// These passes keep the computation of a rank and change its order, so that large tensors die before others are
// made. The loss is split into chunks of rows while its ops are composites (LossChunks.td). Updates move up once
// all ops are actions (Updates.td), and other actions move if that lowers the peak (PeakOrder.td). The host's
// memory may hold state until its update, and activations until backward (Offload.td).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_MEMORY
#define BRAID_PASSES_MEMORY

include "passes/Memory/LossChunks.td"
include "passes/Memory/Offload.td"
include "passes/Memory/PeakOrder.td"
include "passes/Memory/Updates.td"

#endif // BRAID_PASSES_MEMORY
