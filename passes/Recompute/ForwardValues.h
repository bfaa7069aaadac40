//===- ForwardValues.h - what forward computes and backward reads -*- C++ -*-===//
#ifndef BRAID_PASSES_RECOMPUTE_FORWARDVALUES_H
#define BRAID_PASSES_RECOMPUTE_FORWARDVALUES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace braid {

/// The forward pass of a program that trains, as recomputation sees it.
class ForwardValues {
public:
  explicit ForwardValues(mlir::func::FuncOp program);

  /// The ops whose results depend on the batch, in block order.  What depends on parameters
  /// alone, or on nothing, lives as parameters do: ZeRO-3 gathers and computes it again.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops.getArrayRef(); }
  bool contains(mlir::Operation *op) const { return op && ops.contains(op); }
  /// Whether an op of forward that depends on the batch makes it.
  bool contains(mlir::Value value) const { return contains(value.getDefiningOp()); }

  /// Whether backward reads it.
  bool isRead(mlir::Value value) const { return read.contains(value); }
  /// Whether it lives to the end of the program in any case.
  bool isReturned(mlir::Value value) const { return returned.contains(value); }
  /// Whether it may be computed twice: not a reduction over ranks, nor what only some ranks come
  /// to or what has other effects.
  bool mayRepeat(mlir::Operation *op) const;
  /// Whether it makes what another unit reads in forward.
  bool leavesUnit(mlir::Operation *op) const { return leaving.contains(op); }
  /// Whether it is of a named unit, and another reads what that makes from there on.  What comes
  /// last, such as the logits of tied embeddings, is read by backward right away, so replaying
  /// it frees nothing.
  bool isOfInnerUnit(mlir::Operation *op) const;

private:
  bool isOfAllRanks;
  llvm::SetVector<mlir::Operation *> ops;
  llvm::DenseSet<mlir::Value> read, returned;
  llvm::DenseSet<mlir::Operation *> leaving;
  /// By unit.
  llvm::DenseMap<mlir::StringAttr, mlir::Operation *> lastLeaving;
};

/// Whether an op's result is its operand seen otherwise, or repeated: it takes neither time nor
/// memory of its own, and keeping it is keeping the operand.
bool isSeenThrough(mlir::Operation *op);

} // namespace braid

#endif // BRAID_PASSES_RECOMPUTE_FORWARDVALUES_H
