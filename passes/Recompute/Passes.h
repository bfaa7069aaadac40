//===- Passes.h - recomputation in backward ---------------------*- C++ -*-===//
#ifndef BRAID_PASSES_RECOMPUTE_PASSES_H
#define BRAID_PASSES_RECOMPUTE_PASSES_H

#include "dialects/TG/TG.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/Base/OptionTypes.h"
#include "passes/Recompute/Policy.h"

namespace braid {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Recompute/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_RECOMPUTE_PASSES_H

// A pass defines GEN_PASS_DEF_NAME before it includes this header, for its base class.
namespace braid {
#include "passes/Recompute/Passes.h.inc"
} // namespace braid
