//===- ActionOrder.h - an order of actions that merging keeps ----*- C++ -*-===//
//
// A topological order of the actions of a block, on values, that stays one while
// actions are merged (Pearce and Kelly 2007).  Merging two actions renumbers only the
// actions between them that depend on the first or that the second depends on; where
// there are too many of these, merging is refused, which keeps the cost of a whole
// program near-linear.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_ACTIONS_ACTIONORDER_H
#define BRAID_LIB_ACTIONS_ACTIONORDER_H

#include "lib/Actions/ActionGraph.h"
#include "llvm/ADT/SetVector.h"

namespace braid {

class ActionOrder {
public:
  explicit ActionOrder(mlir::Block &block);

  /// What lies between two actions that are to become one.
  struct Between {
    llvm::SmallVector<mlir::Operation *> after, before;
  };
  /// Fails if something between `first` and `second` depends on the first and is
  /// needed by the second, or if too much lies between.
  mlir::FailureOr<Between> between(mlir::Operation *first, mlir::Operation *second);
  /// `merged` has replaced both: gives it a place.  The old ops may be dead, but
  /// not yet freed.
  void merge(mlir::Operation *first, mlir::Operation *second, mlir::Operation *merged, const Between &between);
  /// `op` has replaced `old`.
  void replace(mlir::Operation *old, mlir::Operation *op);

  bool precedes(mlir::Operation *first, mlir::Operation *second) { return order[first] < order[second]; }
  /// Puts the block's ops in order; views come right before their first reader.
  void apply();

  /// The action that makes `value`, through views; null for arguments and constants.
  mlir::Operation *maker(mlir::Value value) const;
  /// Adds the actions that read `value`, through views; stops when there are very many.
  void addReaders(mlir::Value value, llvm::SmallSetVector<mlir::Operation *, 8> &readers) const;

private:
  /// Adds the actions before `end` that read results of `op` or are ordered behind it; false if there
  /// are too many.
  bool addSuccessorsBefore(mlir::Operation *op, int64_t end, llvm::SetVector<mlir::Operation *> &successors) const;
  llvm::SmallSetVector<mlir::Operation *, 8> predecessors(mlir::Operation *op) const;

  mlir::Block &block;
  ActionGraph graph;
  llvm::DenseMap<mlir::Operation *, int64_t> order;
};

} // namespace braid

#endif // BRAID_LIB_ACTIONS_ACTIONORDER_H
