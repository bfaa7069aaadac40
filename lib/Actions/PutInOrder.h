//===- PutInOrder.h - actions of a block in another order -------*- C++ -*-===//
#ifndef BRAID_LIB_ACTIONS_PUTINORDER_H
#define BRAID_LIB_ACTIONS_PUTINORDER_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace braid {

/// Moves actions to the end of their block in an order that keeps values, with views and constants in front of their
/// first reader.  The terminator may be the last of the actions.
void putInOrder(mlir::Block &block, llvm::ArrayRef<mlir::Operation *> actions);

} // namespace braid

#endif // BRAID_LIB_ACTIONS_PUTINORDER_H
