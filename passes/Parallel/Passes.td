//===- Passes.td - from one device to many ranks ---------------*- tablegen -*-===//
//
// Sharding.td holds the way from an annotated graph to the program of a rank;
// Collectives.td what happens to its collectives.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_PARALLEL
#define BRAID_PASSES_PARALLEL

include "passes/Parallel/Sharding.td"
include "passes/Parallel/Collectives.td"

#endif // BRAID_PASSES_PARALLEL
