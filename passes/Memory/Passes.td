//===- Passes.td - programs that need less memory --------------*- tablegen -*-===//
//
// What a rank computes stays the same, and the order changes: large tensors die before others
// are made.  The loss goes by chunks of rows while its ops are composites (LossChunks.td);
// updates move up once all are actions (Updates.td), and other actions where that lowers the peak
// (PeakOrder.td).  State may wait for its update in the host's
// memory, and activations for backward (Offload.td).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_MEMORY
#define BRAID_PASSES_MEMORY

include "passes/Memory/LossChunks.td"
include "passes/Memory/Offload.td"
include "passes/Memory/PeakOrder.td"
include "passes/Memory/Updates.td"

#endif // BRAID_PASSES_MEMORY
