//===- Forward.h - which ops are the forward pass ---------------*- C++ -*-===//
//
// A training program computes a loss, then gradients, then updates.  Nothing in the
// IR says where one ends and the next begins: the forward pass is what the loss
// depends on.  Works on tg, on programs of ranks and on exec values alike.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_FORWARD_H
#define BRAID_LIB_SCHEDULE_FORWARD_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace braid {

/// Whether a program has more than a forward pass: it returns gradients or updates.
bool isTraining(mlir::func::FuncOp program);

/// The ops of the program's block that its forward pass needs: what results with a
/// role of the model (loss, logits, count) depend on; in @accumulate what the
/// accumulators of loss and count do; in a program without either, what its scalar
/// results do.  All ops of a program that does not train.  Linear in the program.
llvm::DenseSet<mlir::Operation *> forwardOps(mlir::func::FuncOp program);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_FORWARD_H
