//===- ActionGraph.h - dependences between a program's actions --*- C++ -*-===//
//
// Edges lead from an action to earlier ones:
//
//   reads       the actions that make the values it uses, in its region too
//   overwrites  the actions that read or write memory which it writes
//   ordered     the previous action that keeps its order
//
// Every order of the actions that keeps these edges has the same result. Edges look
// through ops that are not actions: views, concats and constants.
//
// Edges of values are computed from the IR on demand, so they stay right while a pass merges or
// replaces actions. Numbers and all other edges describe the program when the graph was made.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_ACTIONS_ACTIONGRAPH_H
#define BRAID_LIB_ACTIONS_ACTIONGRAPH_H

#include "lib/Memory/BufferAssignment.h"

namespace braid {

/// Rules that differ between levels and passes.
struct ActionRules {
  bool (*isAction)(mlir::Operation *);
  /// Returns true for actions that keep their order among themselves.
  bool (*isOrdered)(mlir::Operation *);

  /// Rules for actions of ActionOpInterface: those that other ranks see keep their order.
  static ActionRules forActions();
  /// Like `forActions`, but every op except views and constants is an action, because concats have places of their own.
  static ActionRules forFusion();
  /// Rules for tensors, where every op is an action. Ops with effects keep their order; a collective
  /// that all ranks run has no effect, so it may move past others.
  static ActionRules forTensors();
};

class ActionGraph {
public:
  explicit ActionGraph(mlir::Block &block, ActionRules rules = ActionRules::forActions());

  /// Returns the actions in program order.
  llvm::ArrayRef<mlir::Operation *> actions() const { return ops; }
  unsigned size() const { return ops.size(); }
  bool contains(mlir::Operation *op) const { return numbers.contains(op); }
  unsigned numberOf(mlir::Operation *op) const { return numbers.at(op); }
  bool isAction(mlir::Operation *op) const;

  /// Visits the actions that make a value.
  void forEachProducer(mlir::Value value, llvm::function_ref<void(mlir::Operation *)> visit) const;
  /// Visits the actions that read a value, and the terminator if it does; stops and returns false
  /// once `visit` returns false.
  bool walkReaders(mlir::Value value, llvm::function_ref<bool(mlir::Operation *)> visit) const;
  void forEachReader(mlir::Value value, llvm::function_ref<void(mlir::Operation *)> visit) const;
  /// Return the neighbors among the actions that keep their order; null at the ends and for other actions.
  mlir::Operation *previousOrdered(mlir::Operation *op) const { return previous.lookup(op); }
  mlir::Operation *nextOrdered(mlir::Operation *op) const { return next.lookup(op); }

  /// Return the three kinds of edges to earlier actions.
  llvm::SmallVector<unsigned, 4> reads(unsigned action) const;
  llvm::ArrayRef<unsigned> overwrites(unsigned action) const { return overwritten[action]; }
  std::optional<unsigned> ordered(unsigned action) const;
  /// Returns the edges of all kinds, sorted.
  llvm::SmallVector<unsigned, 4> predecessors(unsigned action) const;

  /// Adds edges from the readers of a parameter or state to the action that overwrites it with its new value.
  void addUpdates(mlir::func::FuncOp program);
  /// Adds the edges that a buffer assignment needs, from actions to earlier ones whose bytes they overwrite. If a copy
  /// of the program was assigned, `originals` has the graph's action for each action of the copy; null for an action
  /// that assignment has added.
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
