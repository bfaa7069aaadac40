//===- TGGradients.h - reverse mode over a straight line of ops -*- C++ -*-===//
//
// The engine under `tg-differentiate`, and under composites whose own rule does
// not cover a case: those differentiate their decomposition.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_TGGRADIENTS_H
#define BRAID_DIALECTS_TG_TGGRADIENTS_H

#include "dialects/TG/TGBuilder.h"
#include "llvm/ADT/DenseSet.h"

namespace braid::tg {

/// Reverse mode: seed outputs, run over ops in program order, read gradients.
/// Contributions to a value are added as they are made, so in reverse program
/// order.  Linear in the number of ops.
class ReverseMode {
public:
  explicit ReverseMode(mlir::OpBuilder &builder) : builder(builder) {}

  /// Asks for the gradient of a value: it and what is computed from it are
  /// active.
  void want(mlir::Value value) {
    active.insert(value);
    contributions.try_emplace(value);
  }
  /// Adds to the gradient of a value.
  void seed(mlir::Value value, mlir::Value gradient);
  /// Marks what depends on the wanted values.  `ops` in program order.
  void markActive(llvm::ArrayRef<mlir::Operation *> ops);
  bool isActive(mlir::Value value) const { return active.contains(value); }
  /// Walks backwards and builds gradients at the builder.  Fails at the first
  /// op that has no gradient but needs one: `blocker` says which.
  llvm::LogicalResult run(llvm::ArrayRef<mlir::Operation *> ops);
  mlir::Operation *getBlocker() const { return blocker; }
  /// The op that first contributed to a value's gradient; null for a seed.
  mlir::Operation *contributorOf(mlir::Value value) const { return contributors.lookup(value); }
  /// The gradient of a value, null for zero.
  mlir::Value gradientOf(mlir::Value value) const { return gradients.lookup(value); }
  /// What was added up to the gradient of a value that was asked for, and the sums.
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

/// Differentiates an op through its decomposition, which is built again at the
/// builder.  Like `buildVJP`; fails when an op of the decomposition has no
/// gradient.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> differentiateDecomposition(mlir::Operation *op,
                                                                           mlir::OpBuilder &builder,
                                                                           llvm::ArrayRef<mlir::Value> resultGradients,
                                                                           llvm::ArrayRef<bool> needed);

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_TGGRADIENTS_H
