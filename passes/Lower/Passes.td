//===- Passes.td - from tensors to actions in memory -------------*- tablegen -*-===//
//
// Order: set-target, set-machine (Target.td), select-dot-products (DotProducts.td), chunk-sums (Kernels.td),
// select-calls, select-bias-gradients (Calls.td), form-kernels, fuse-kernels (Kernels.td), fuse-gathers
// (Gathers.td), recompute-operands, gather-kernels (Kernels.td), form-packs (Memory.td), order-attention,
// verify-library-sizes (Attention.td), verify-values (Kernels.td), plan-memory, pad-matmuls (Memory.td),
// outline-kernels (Launches.td), shorten-row-loops (RowLoops.td), batch-launches (Launches.td), stream-stores
// (Stores.td), split-matmuls (MatmulSizes.td), copy-panels (Panels.td), verify-memory, verify-plan (Memory.td).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWER
#define BRAID_PASSES_LOWER

include "passes/Lower/Target.td"
include "passes/Lower/DotProducts.td"
include "passes/Lower/Calls.td"
include "passes/Lower/Kernels.td"
include "passes/Lower/Attention.td"
include "passes/Lower/Gathers.td"
include "passes/Lower/Memory.td"
include "passes/Lower/Launches.td"
include "passes/Lower/RowLoops.td"
include "passes/Lower/Stores.td"
include "passes/Lower/MatmulSizes.td"
include "passes/Lower/Panels.td"

#endif // BRAID_PASSES_LOWER
