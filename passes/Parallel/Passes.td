//===- Passes.td - from one device to many ranks ---------------*- tablegen -*-===//
//
// Strategies.td holds what ranks keep and agree on; Sharding.td the way from an
// annotated graph to the program of a rank; Collectives.td what happens to its collectives.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_PARALLEL
#define BRAID_PASSES_PARALLEL

include "passes/Parallel/Strategies.td"
include "passes/Parallel/Sharding.td"
include "passes/Parallel/Collectives.td"
include "passes/Parallel/Overlap.td"

#endif // BRAID_PASSES_PARALLEL
