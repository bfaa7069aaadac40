//===- Passes.h - cut programs into pipeline stages -------------*- C++ -*-===//
#ifndef BRAID_PASSES_STAGES_PASSES_H
#define BRAID_PASSES_STAGES_PASSES_H

#include "dialects/Comm/Comm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/Base/OptionTypes.h"

namespace braid {
#define GEN_PASS_DECL
#include "passes/Stages/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Stages/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_STAGES_PASSES_H
