//===- Passes.h - the passes of the Graph level --------------------*- C++ -*-===//
#ifndef BRAID_PASSES_GRAPH_PASSES_H
#define BRAID_PASSES_GRAPH_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Graph/Choices.h"
#include "passes/Graph/OptionTypes.h"

namespace braid {
#define GEN_PASS_DECL
#include "passes/Graph/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Graph/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_GRAPH_PASSES_H
