//===- Passes.h - verifiers of actions --------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_CHECKS_PASSES_H
#define BRAID_PASSES_CHECKS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace braid {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Checks/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_CHECKS_PASSES_H

// A pass defines GEN_PASS_DEF_NAME before it includes this header, for its base class.
namespace braid {
#include "passes/Checks/Passes.h.inc"
} // namespace braid
