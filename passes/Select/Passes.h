//===- Passes.h - calls of the target ---------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_SELECT_PASSES_H
#define BRAID_PASSES_SELECT_PASSES_H

#include "mlir/Pass/Pass.h"
#include "passes/Base/OptionTypes.h"
#include "passes/Select/AttentionChoice.h"

namespace braid {
#define GEN_PASS_DECL
#include "passes/Select/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Select/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_SELECT_PASSES_H
