//===- Passes.td - from actions on values to actions in memory *- tablegen -*-===//
//
// Order: form-packs, plan-memory, pad-matmuls (Memory.td), outline-kernels (Launches.td), shorten-row-loops
// (RowLoops.td), batch-launches (Launches.td), stream-stores (Stores.td), split-matmuls (MatmulSizes.td), copy-panels
// (Panels.td).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ARENA
#define BRAID_PASSES_ARENA

include "passes/Arena/Memory.td"
include "passes/Arena/Launches.td"
include "passes/Arena/RowLoops.td"
include "passes/Arena/Stores.td"
include "passes/Arena/MatmulSizes.td"
include "passes/Arena/Panels.td"

#endif // BRAID_PASSES_ARENA
