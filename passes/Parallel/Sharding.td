//===- Sharding.td - annotate, propagate, partition ------------*- tablegen -*-===//
//
// Order: comm-propagate gives every value a sharding, comm-insert-reshards makes
// every change of sharding an op, comm-verify-shardings checks the result against
// the rules of the ops, comm-partition makes the program of a rank.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_PARALLEL_SHARDING
#define BRAID_PASSES_PARALLEL_SHARDING

include "mlir/Pass/PassBase.td"

#endif // BRAID_PASSES_PARALLEL_SHARDING
