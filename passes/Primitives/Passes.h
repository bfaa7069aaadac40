//===- Passes.h - from composites to primitives -----------------*- C++ -*-===//
#ifndef BRAID_PASSES_PRIMITIVES_PASSES_H
#define BRAID_PASSES_PRIMITIVES_PASSES_H

#include "mlir/Pass/Pass.h"

namespace braid {
#define GEN_PASS_DECL
#include "passes/Primitives/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Primitives/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_PRIMITIVES_PASSES_H
