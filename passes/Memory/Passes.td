//===- Passes.td - programs that need less memory --------------*- tablegen -*-===//
//
// What a rank computes stays the same, and the order changes: large tensors die before others
// are made: updates move up once all ops are actions (Updates.td).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_MEMORY
#define BRAID_PASSES_MEMORY

include "passes/Memory/Updates.td"

#endif // BRAID_PASSES_MEMORY
