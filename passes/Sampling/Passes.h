//===- Passes.h - programs that generate text -------------------*- C++ -*-===//
#ifndef BRAID_PASSES_SAMPLING_PASSES_H
#define BRAID_PASSES_SAMPLING_PASSES_H

#include "mlir/Pass/Pass.h"

namespace braid {
#define GEN_PASS_DECL
#include "passes/Sampling/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Sampling/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_SAMPLING_PASSES_H
