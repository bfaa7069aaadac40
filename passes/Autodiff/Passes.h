//===- Passes.h - from programs to training steps ---------------*- C++ -*-===//
#ifndef BRAID_PASSES_AUTODIFF_PASSES_H
#define BRAID_PASSES_AUTODIFF_PASSES_H

#include "mlir/Pass/Pass.h"
#include "passes/Base/OptionTypes.h"

namespace braid {
#define GEN_PASS_DECL
#include "passes/Autodiff/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Autodiff/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_AUTODIFF_PASSES_H
