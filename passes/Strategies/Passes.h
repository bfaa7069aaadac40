//===- Passes.h - passes that choose shardings ------------------*- C++ -*-===//
#ifndef BRAID_PASSES_STRATEGIES_PASSES_H
#define BRAID_PASSES_STRATEGIES_PASSES_H

#include "dialects/Comm/Comm.h"
#include "dialects/TG/TG.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/Base/OptionTypes.h"
#include "passes/Strategies/ContextMethod.h"

namespace braid {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Strategies/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_STRATEGIES_PASSES_H

// A pass defines GEN_PASS_DEF_NAME before it includes this header, for its base class.
namespace braid {
#include "passes/Strategies/Passes.h.inc"
} // namespace braid
