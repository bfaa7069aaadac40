//===- Passes.h - the passes of the Memory level ----------------*- C++ -*-===//
#ifndef BRAID_PASSES_MEMORY_PASSES_H
#define BRAID_PASSES_MEMORY_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Base/OptionTypes.h"

namespace braid {
#define GEN_PASS_DECL
#include "passes/Memory/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Memory/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_MEMORY_PASSES_H
