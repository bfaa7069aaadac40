//===- Passes.h - from a model to its programs ------------------*- C++ -*-===//
#ifndef BRAID_PASSES_FRONTEND_PASSES_H
#define BRAID_PASSES_FRONTEND_PASSES_H

#include "mlir/Pass/Pass.h"
#include "passes/Base/OptionTypes.h"

namespace braid {
#define GEN_PASS_DECL
#include "passes/FrontEnd/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/FrontEnd/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_FRONTEND_PASSES_H
