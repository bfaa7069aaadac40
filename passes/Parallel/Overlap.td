//===- Overlap.td - fewer collectives, and hidden ones ---------*- tablegen -*-===//
//
// What happens to the collectives of a training step once its units are gathered:
// those of many tensors become one, then they run beside the computation.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_PARALLEL_OVERLAP
#define BRAID_PASSES_PARALLEL_OVERLAP

include "mlir/Pass/PassBase.td"

#endif // BRAID_PASSES_PARALLEL_OVERLAP
