//===- Passes.h - mixed precision -------------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_PRECISION_PASSES_H
#define BRAID_PASSES_PRECISION_PASSES_H

#include "mlir/Pass/Pass.h"
#include "passes/Base/OptionTypes.h"

namespace braid {
#define GEN_PASS_DECL
#include "passes/Precision/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Precision/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_PRECISION_PASSES_H
