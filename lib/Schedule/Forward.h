//===- Forward.h - which ops are the forward pass ---------------*- C++ -*-===//
//
// A training program computes a loss, then gradients, then updates.  Its ops say so
// (dialects/TG/Facts.h); this is what dependences say: the forward pass is what the loss
// depends on.  Works on tg, on programs of ranks and on exec values alike.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_FORWARD_H
#define BRAID_LIB_SCHEDULE_FORWARD_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Whether a program has more than a forward pass: it returns gradients or updates, of more than caches.
bool isTraining(mlir::func::FuncOp program);

/// The values that an op of the program's block reads, in its regions too.
llvm::SmallVector<mlir::Value> valuesReadBy(mlir::Operation *op);

/// What the forward pass of a program that trains computes: results with a role of the
/// model (loss, logits, count); in @accumulate the accumulators of loss and count; in a
/// program without either, its scalar results that have no role.
llvm::SmallVector<mlir::Value> forwardResults(mlir::func::FuncOp program);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_FORWARD_H
