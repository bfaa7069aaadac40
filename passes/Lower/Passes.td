//===- Passes.td - from tensors to actions in memory -------------*- tablegen -*-===//
//
// Order: select-calls, select-bias-gradients, form-kernels, fuse-kernels,
// verify-values (Actions.td), plan-memory (Memory.td), outline-kernels,
// batch-launches (Launches.td), verify-memory, verify-plan (Memory.td).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWER
#define BRAID_PASSES_LOWER

include "passes/Lower/Actions.td"
include "passes/Lower/Attention.td"
include "passes/Lower/Memory.td"
include "passes/Lower/Launches.td"

#endif // BRAID_PASSES_LOWER
