//===- Passes.h - from composites to primitives -----------------*- C++ -*-===//
#ifndef BRAID_PASSES_PRIMITIVES_PASSES_H
#define BRAID_PASSES_PRIMITIVES_PASSES_H

#include "mlir/Pass/Pass.h"

namespace braid {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Primitives/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_PRIMITIVES_PASSES_H

// A pass defines GEN_PASS_DEF_NAME before it includes this header, for its base class.
namespace braid {
#include "passes/Primitives/Passes.h.inc"
} // namespace braid
