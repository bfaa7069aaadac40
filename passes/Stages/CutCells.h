//===- CutCells.h - the functions of a pipeline's cells ----------*- C++ -*-===//
//
// The program of one microbatch becomes a function for each stage and each action of its cells,
// and one for each message.  What forward makes and backward of the same stage reads is saved:
// forward writes a state that lies in a slot, and backward reads it.  What another stage reads is
// sent from stage to stage.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_STAGES_CUTCELLS_H
#define BRAID_PASSES_STAGES_CUTCELLS_H

#include "lib/Pipeline/Walk.h"
#include "passes/Stages/StageFunction.h"

namespace braid {

/// Slots by their symbol, with their number.
using SlotCounts = llvm::MapVector<mlir::StringAttr, int64_t>;

struct Cells {
  llvm::SmallVector<mlir::func::FuncOp> functions;
  SlotCounts slots;
};

/// Of `program`, which adds up gradients of a microbatch.
Cells cutCells(mlir::func::FuncOp program, const StageMap &map, const StageAxis &axis,
               const pipeline::Schedule &schedule, const pipeline::Walk &walk);

} // namespace braid

#endif // BRAID_PASSES_STAGES_CUTCELLS_H
