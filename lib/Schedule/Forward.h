//===- Forward.h - finds the forward pass of a program ----------*- C++ -*-===//
//
// A training program computes a loss, then gradients, then updates. The facts of its ops state their phase
// (dialects/TG/Facts.h). This file derives it from dependences: the forward pass is everything that the loss depends
// on. Works on tg, on programs of ranks and on exec values.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_FORWARD_H
#define BRAID_LIB_SCHEDULE_FORWARD_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Returns whether a program has more than a forward pass: it returns gradients, or updates of other tensors than
/// caches.
bool isTraining(mlir::func::FuncOp program);

/// Returns the values that an op of the program's block reads, including those read in its regions.
llvm::SmallVector<mlir::Value> valuesReadBy(mlir::Operation *op);

/// Returns the results of the forward pass of a training program: results with a role of the model (loss, logits,
/// count). In @accumulate, these are the accumulators of loss and count. A program without either returns its scalar
/// results that have no role.
llvm::SmallVector<mlir::Value> forwardResults(mlir::func::FuncOp program);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_FORWARD_H
