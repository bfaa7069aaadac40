//===- CutCells.h - cut a pipeline's cells into functions -------*- C++ -*-===//
//
// The program of one microbatch becomes one function for each stage and each action of its cells, and one for each
// message. Forward values that backward of the same stage reads are saved: forward writes a state in a slot, and
// backward reads it. Values that another stage reads are sent from stage to stage.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_STAGES_CUTCELLS_H
#define BRAID_PASSES_STAGES_CUTCELLS_H

#include "lib/Pipeline/Walk.h"
#include "passes/Stages/StageFunction.h"

namespace braid {

/// Number of slots by symbol.
using SlotCounts = llvm::MapVector<mlir::StringAttr, int64_t>;

struct Cells {
  llvm::SmallVector<mlir::func::FuncOp> functions;
  SlotCounts slots;
};

/// Cuts `program`, which accumulates the gradients of a microbatch.
Cells cutCells(mlir::func::FuncOp program, const StageMap &map, const StageAxis &axis,
               const pipeline::Schedule &schedule, const pipeline::Walk &walk);

} // namespace braid

#endif // BRAID_PASSES_STAGES_CUTCELLS_H
