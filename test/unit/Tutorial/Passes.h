//===- Passes.h - the pass of docs/WritingAPass.md --------------*- C++ -*-===//
#ifndef BRAID_TEST_UNIT_TUTORIAL_PASSES_H
#define BRAID_TEST_UNIT_TUTORIAL_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace braid {
#define GEN_PASS_DECL
#include "test/unit/Tutorial/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "test/unit/Tutorial/Passes.h.inc"
} // namespace braid

#endif // BRAID_TEST_UNIT_TUTORIAL_PASSES_H
