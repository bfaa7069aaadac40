//===- Collectives.td - passes over collectives ----------------*- tablegen -*-===//
//
// All work on programs of ranks and can run in any order; comm-verify-order
// comes last.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_PARALLEL_COLLECTIVES
#define BRAID_PASSES_PARALLEL_COLLECTIVES

include "mlir/Pass/PassBase.td"

#endif // BRAID_PASSES_PARALLEL_COLLECTIVES
