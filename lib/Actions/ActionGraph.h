//===- ActionGraph.h - dependences between a program's actions --*- C++ -*-===//
//
// Edges lead from an action to earlier ones:
//
//   reads       those that make what it uses, in its region too
//   overwrites  those that read or write memory which it writes
//   ordered     the previous action that keeps its order
//
// Every order of the actions that keeps these edges computes the same.  Edges look
// through ops that are no actions: views, concats and constants.
//
// Edges of values follow the IR whenever they are asked for, so they stay right while
// a pass merges or replaces actions.  Numbers and all other edges stay as the program
// was when the graph was made.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_ACTIONS_ACTIONGRAPH_H
#define BRAID_LIB_ACTIONS_ACTIONGRAPH_H

#include "lib/Memory/BufferAssignment.h"

namespace braid {

/// The rules that differ between levels and passes.
struct ActionRules {
  bool (*isAction)(mlir::Operation *);
  /// Actions for which this is true keep their order among themselves.
  bool (*isOrdered)(mlir::Operation *);

  /// Actions of ActionOpInterface keep the order that other ranks see.
  static ActionRules ofActions();
  /// The same, with every op but views and constants as an action: concats have places of their own.
  static ActionRules ofFusion();
  /// Every op is an action, as on tensors.  Ops with effects keep their order; a collective that all
  /// ranks run has none, so it may move past others.
  static ActionRules ofTensors();
};

class ActionGraph {
public:
  explicit ActionGraph(mlir::Block &block, ActionRules rules = ActionRules::ofActions());

  /// In the order of the program.
  llvm::ArrayRef<mlir::Operation *> actions() const { return ops; }
  unsigned size() const { return ops.size(); }
  bool contains(mlir::Operation *op) const { return numbers.contains(op); }
  unsigned numberOf(mlir::Operation *op) const { return numbers.at(op); }
  bool isAction(mlir::Operation *op) const;

  /// Visits the actions that make a value.
  void forEachMaker(mlir::Value value, llvm::function_ref<void(mlir::Operation *)> visit) const;
  /// Visits the actions that read a value, and the terminator if it does; stops and returns false
  /// once `visit` returns false.
  bool walkReaders(mlir::Value value, llvm::function_ref<bool(mlir::Operation *)> visit) const;
  void forEachReader(mlir::Value value, llvm::function_ref<void(mlir::Operation *)> visit) const;
  /// Neighbours among the actions that keep their order; null at the ends and for other actions.
  mlir::Operation *previousOrdered(mlir::Operation *op) const { return previous.lookup(op); }
  mlir::Operation *nextOrdered(mlir::Operation *op) const { return next.lookup(op); }

  /// The three kinds of edges to earlier actions.
  llvm::SmallVector<unsigned, 4> reads(unsigned action) const;
  llvm::ArrayRef<unsigned> overwrites(unsigned action) const { return overwritten[action]; }
  std::optional<unsigned> ordered(unsigned action) const;
  /// The edges of all kinds, sorted.
  llvm::SmallVector<unsigned, 4> predecessors(unsigned action) const;

  /// Adds edges from the readers of a parameter or state to what makes its new value, which is
  /// written over the old one.
  void addUpdates(mlir::func::FuncOp program);
  /// Adds the edges that an assignment of buffers asks for (MemoryOrder.h).  If a copy of the program
  /// was assigned, `originals` has the graph's action for each of the copy's; null for an action that
  /// assignment has added.
  void addMemoryOrder(const Places &places, llvm::ArrayRef<mlir::Operation *> originals);
  void addMemoryOrder(const Places &places);

private:
  void addOverwrite(unsigned action, mlir::Operation *before);

  mlir::Block &block;
  ActionRules rules;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> previous, next;
  std::vector<llvm::SmallVector<unsigned, 4>> overwritten;
};

} // namespace braid

#endif // BRAID_LIB_ACTIONS_ACTIONGRAPH_H
