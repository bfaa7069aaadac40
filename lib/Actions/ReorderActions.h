//===- ReorderActions.h - reordering of a block's actions -------*- C++ -*-===//
#ifndef BRAID_LIB_ACTIONS_REORDERACTIONS_H
#define BRAID_LIB_ACTIONS_REORDERACTIONS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace braid {

/// Moves actions to the end of their block in this order, which must keep values. Views and constants go before
/// their first reader. The terminator may be the last of the actions.
void reorderActions(mlir::Block &block, llvm::ArrayRef<mlir::Operation *> actions);

} // namespace braid

#endif // BRAID_LIB_ACTIONS_REORDERACTIONS_H
