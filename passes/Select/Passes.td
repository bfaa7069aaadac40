//===- Passes.td - calls of the target ---------------------*- tablegen -*-===//
//
// Order: set-target, set-machine (Target.td), select-dot-products (DotProducts.td), select-epilogues, select-calls,
// select-bias-gradients, select-addends (Calls.td), select-attention, order-attention, verify-library-sizes
// (Attention.td).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_SELECT
#define BRAID_PASSES_SELECT

include "passes/Select/Target.td"
include "passes/Select/DotProducts.td"
include "passes/Select/Calls.td"
include "passes/Select/Attention.td"

#endif // BRAID_PASSES_SELECT
