//===- Passes.td - from tensors to actions in memory -------------*- tablegen -*-===//
//
// Order: select-calls, form-kernels, fuse-kernels, (verify), plan-memory,
// outline-kernels, batch-launches, (verify).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWER
#define BRAID_PASSES_LOWER

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Actions on values
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

#endif // BRAID_PASSES_LOWER
