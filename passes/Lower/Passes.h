//===- Passes.h - the passes of the Lower level --------------------*- C++ -*-===//
#ifndef BRAID_PASSES_LOWER_PASSES_H
#define BRAID_PASSES_LOWER_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Graph/OptionTypes.h"
#include "passes/Lower/AttentionChoice.h"

namespace braid {
#define GEN_PASS_DECL
#include "passes/Lower/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Lower/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_LOWER_PASSES_H
