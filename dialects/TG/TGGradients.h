//===- TGGradients.h - reverse mode over straight-line code -----*- C++ -*-===//
//
// The engine of `tg-differentiate`. Composites whose own gradient rule does not cover a
// case use it to differentiate their decomposition.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_TGGRADIENTS_H
#define BRAID_DIALECTS_TG_TGGRADIENTS_H

#include "dialects/TG/TGBuilder.h"
#include "llvm/ADT/DenseSet.h"

namespace braid::tg {

/// Reverse-mode differentiation: seed outputs, run over ops in program order, read
/// gradients. Contributions to a value are added as they are made, so in reverse
/// program order. Linear in the number of ops.
class ReverseMode {
public:
  explicit ReverseMode(mlir::OpBuilder &builder) : builder(builder) {}

  /// Requests the gradient of a value; the value and all that depends on it become active.
  void requestGradient(mlir::Value value) {
    active.insert(value);
    contributions.try_emplace(value);
  }
  /// Adds a term to the gradient of a value.
  void seed(mlir::Value value, mlir::Value gradient);
  /// Marks the values that depend on the requested ones. `ops` are in program order.
  void markActive(llvm::ArrayRef<mlir::Operation *> ops);
  bool isActive(mlir::Value value) const { return active.contains(value); }
  /// Walks backward and builds gradients at the builder's insertion point. Fails at the
  /// first op that needs a gradient rule and has none; `blocker` returns this op.
  llvm::LogicalResult run(llvm::ArrayRef<mlir::Operation *> ops);
  mlir::Operation *getBlocker() const { return blocker; }
  /// Returns the op that first contributed to a value's gradient; null for a seed.
  mlir::Operation *contributorOf(mlir::Value value) const { return contributors.lookup(value); }
  /// Returns the gradient of a value; null means zero.
  mlir::Value gradientOf(mlir::Value value) const { return gradients.lookup(value); }
  /// Returns the contributions to the gradient of a requested value, and their partial sums.
  llvm::ArrayRef<mlir::Value> contributionsTo(mlir::Value value) const { return contributions.find(value)->second; }

private:
  llvm::LogicalResult visit(mlir::Operation *op);

  mlir::OpBuilder &builder;
  llvm::DenseSet<mlir::Value> active;
  llvm::DenseMap<mlir::Value, mlir::Value> gradients;
  llvm::DenseMap<mlir::Value, mlir::Operation *> contributors;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> contributions;
  mlir::Operation *blocker = nullptr;
};

/// Differentiates an op through its decomposition, which is built again at the builder's
/// insertion point. Like `buildVJP`, but fails if an op of the decomposition has no gradient.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> differentiateDecomposition(mlir::Operation *op,
                                                                           mlir::OpBuilder &builder,
                                                                           llvm::ArrayRef<mlir::Value> resultGradients,
                                                                           llvm::ArrayRef<bool> needed);

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_TGGRADIENTS_H
