//===- Passes.h - passes on collectives -------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_PASSES_H
#define BRAID_PASSES_COLLECTIVES_PASSES_H

#include "dialects/Comm/Comm.h"
#include "dialects/TG/TG.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/Base/Choices.h"
#include "passes/Base/OptionTypes.h"
#include "passes/Collectives/Choices.h"

namespace braid {
#define GEN_PASS_DECL
#include "passes/Collectives/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Collectives/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_PASSES_H
