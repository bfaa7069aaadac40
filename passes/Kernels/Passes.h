//===- Passes.h - kernels, on values ----------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_KERNELS_PASSES_H
#define BRAID_PASSES_KERNELS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "passes/Base/OptionTypes.h"

namespace braid {
#define GEN_PASS_DECL
#include "passes/Kernels/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Kernels/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_KERNELS_PASSES_H
