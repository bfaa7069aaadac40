//===- ForwardValues.h - values of forward that backward reads --*- C++ -*-===//
#ifndef BRAID_PASSES_RECOMPUTE_FORWARDVALUES_H
#define BRAID_PASSES_RECOMPUTE_FORWARDVALUES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace braid {

/// The forward pass of a training program, for recomputation.
class ForwardValues {
public:
  explicit ForwardValues(mlir::func::FuncOp program);

  /// Returns the ops whose results depend on the batch, in block order. Values that depend only on parameters, or on
  /// nothing, are live like parameters: ZeRO-3 gathers and computes them again.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops.getArrayRef(); }
  bool contains(mlir::Operation *op) const { return op && ops.contains(op); }
  /// Whether a forward op that depends on the batch defines the value.
  bool contains(mlir::Value value) const { return contains(value.getDefiningOp()); }

  /// Whether backward reads the value.
  bool isRead(mlir::Value value) const { return read.contains(value); }
  /// Whether the value lives to the end of the program in any case.
  bool isReturned(mlir::Value value) const { return returned.contains(value); }
  /// Whether the op may be computed twice. Excludes reductions over ranks, communication that only some ranks execute,
  /// and other side effects.
  bool mayRepeat(mlir::Operation *op) const;
  /// Whether another unit reads the op's results in forward.
  bool escapesUnit(mlir::Operation *op) const { return escaping.contains(op); }
  /// Whether the op belongs to a named unit and another unit reads results from this op or later ops of its unit.
  /// Backward reads the last values, such as the logits of tied embeddings, right away, so a replay of them would free
  /// nothing.
  bool isOfInnerUnit(mlir::Operation *op) const;

private:
  bool isOfAllRanks;
  llvm::SetVector<mlir::Operation *> ops;
  llvm::DenseSet<mlir::Value> read, returned;
  llvm::DenseSet<mlir::Operation *> escaping;
  /// The last op of each unit with a reader in another unit.
  llvm::DenseMap<mlir::StringAttr, mlir::Operation *> lastEscaping;
};

/// Whether an op's result is a view or a repetition of its operand. It takes no time and no memory of its own, and
/// keeping it means keeping the operand.
bool isTransparent(mlir::Operation *op);

} // namespace braid

#endif // BRAID_PASSES_RECOMPUTE_FORWARDVALUES_H
