//===- Passes.h - cut programs into pipeline stages -------------*- C++ -*-===//
#ifndef BRAID_PASSES_STAGES_PASSES_H
#define BRAID_PASSES_STAGES_PASSES_H

#include "dialects/Comm/Comm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/Base/OptionTypes.h"

namespace braid {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Stages/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_STAGES_PASSES_H

// A pass defines GEN_PASS_DEF_NAME before it includes this header, for its base class.
namespace braid {
#include "passes/Stages/Passes.h.inc"
} // namespace braid
