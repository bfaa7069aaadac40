//===- ActionOrder.h - order of actions that merging keeps ------*- C++ -*-===//
//
// A topological order of the actions of a block, on values, that stays topological while
// actions are merged (Pearce and Kelly 2007). Merging two actions renumbers only the actions
// between them that depend on the first, or that the second depends on. If there are too many
// of these, merging is refused, which keeps the cost of a whole program near-linear.
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

  /// The actions between two actions that are to be merged.
  struct Between {
    llvm::SmallVector<mlir::Operation *> after, before;
  };
  /// Fails if an action between `first` and `second` depends on the first and the
  /// second depends on it, or if there are too many actions between.
  mlir::FailureOr<Between> between(mlir::Operation *first, mlir::Operation *second);
  /// Gives a place to `merged`, which has replaced both. The old ops may be dead, but not yet freed.
  void merge(mlir::Operation *first, mlir::Operation *second, mlir::Operation *merged, const Between &between);
  /// Gives the place of `old` to `op`, which has replaced it.
  void replace(mlir::Operation *old, mlir::Operation *op);

  bool precedes(mlir::Operation *first, mlir::Operation *second) { return order[first] < order[second]; }
  /// Reorders the ops of the block; a view comes right before its first reader.
  void apply();

  /// Returns the action that makes `value`, through views; null for arguments and constants.
  mlir::Operation *producerOf(mlir::Value value) const;
  /// Adds the actions that read `value`, through views; stops once there are very many.
  void addReaders(mlir::Value value, llvm::SmallSetVector<mlir::Operation *, 8> &readers) const;

private:
  /// Adds the actions before `end` that read results of `op` or are ordered after it. Returns false
  /// if there are too many.
  bool addSuccessorsBefore(mlir::Operation *op, int64_t end, llvm::SetVector<mlir::Operation *> &successors) const;
  llvm::SmallSetVector<mlir::Operation *, 8> predecessors(mlir::Operation *op) const;

  mlir::Block &block;
  ActionGraph graph;
  llvm::DenseMap<mlir::Operation *, int64_t> order;
};

} // namespace braid

#endif // BRAID_LIB_ACTIONS_ACTIONORDER_H
