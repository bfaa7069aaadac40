//===- StageMap.h - the stage of each op ------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_STAGES_STAGEMAP_H
#define BRAID_PASSES_STAGES_STAGEMAP_H

#include "lib/Schedule/Forward.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Stages/UnitStages.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace braid {

/// The ops of a program whose results depend on both weights and inputs: activations, and values computed from them.
/// Any stage can compute other values itself, such as masks and gathered parameters.
class Dependence {
public:
  explicit Dependence(mlir::func::FuncOp program);
  bool isOfStage(mlir::Operation *op) const { return ofStages.contains(op); }

private:
  llvm::DenseSet<mlir::Operation *> ofStages;
};

/// Assigns the ops of a one-microbatch program to stages: to the stage of their unit or, without a unit, to that of
/// their operands. Ops that depend only on inputs or only on weights have no stage, nor have conversions to a wider
/// type: each stage that reads them computes them.
class StageMap {
public:
  /// Also clones ops in `program` whose values an earlier stage can compute for itself. Fails with a message if
  /// forward would flow to an earlier stage, or backward to a later one.
  static mlir::FailureOr<StageMap> of(mlir::func::FuncOp program, const UnitStages &units);

  std::optional<unsigned> stageOf(mlir::Operation *op) const;
  /// Returns nothing for arguments.
  std::optional<unsigned> stageOf(mlir::Value value) const;
  bool isBackward(mlir::Operation *op) const;
  /// Returns the values with a stage that an op reads, directly or through ops without a stage.
  llvm::SmallVector<mlir::Value> stagedReads(mlir::Operation *op) const { return stagedAmong(valuesReadBy(op)); }
  /// Returns the values with a stage among `values`, or the ones that they depend on through ops without a stage.
  llvm::SmallVector<mlir::Value> stagedAmong(llvm::ArrayRef<mlir::Value> values) const;

  /// `set` assigns a stage to an added op; `erase` forgets an op that is about to be erased.
  void set(mlir::Operation *op, unsigned stage) { stages[op] = stage; }
  void erase(mlir::Operation *op) { stages.erase(op); }

  /// Returns the arguments that `values` depend on, directly or through ops without a stage, in argument order.
  llvm::SmallVector<mlir::BlockArgument> argumentsReadBy(llvm::ArrayRef<mlir::Value> values) const;

private:
  explicit StageMap(const UnitStages &units) : units(units) {}
  mlir::LogicalResult place(mlir::Operation *op);
  bool isRepeatable(mlir::Value value, unsigned stage) const;
  mlir::Value repeat(mlir::Value value, mlir::Operation *reader, unsigned stage);
  void placeSources(mlir::func::FuncOp program, const Dependence &dependence);
  void placeGathers(mlir::func::FuncOp program);
  std::optional<unsigned> firstReader(mlir::Operation *op) const;
  bool readsAccumulator(mlir::Operation *op) const;
  unsigned stageWithoutUnit(mlir::Operation *op) const;
  std::optional<unsigned> stageOfSums(mlir::Operation *op) const;

  UnitStages units;
  llvm::DenseMap<mlir::Operation *, unsigned> stages;
};

} // namespace braid

#endif // BRAID_PASSES_STAGES_STAGEMAP_H
