//===- PutInOrder.h - actions of a block in another order -------*- C++ -*-===//
#ifndef BRAID_LIB_ACTIONS_PUTINORDER_H
#define BRAID_LIB_ACTIONS_PUTINORDER_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace braid {

/// Puts actions, and the terminator if it is the last of them, in an order in which each comes behind those that make
/// what it uses, with views and constants in front of their first reader.
void putInOrder(mlir::Block &block, llvm::ArrayRef<mlir::Operation *> actions);

} // namespace braid

#endif // BRAID_LIB_ACTIONS_PUTINORDER_H
