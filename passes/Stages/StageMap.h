//===- StageMap.h - the stage of each op -------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_STAGES_STAGEMAP_H
#define BRAID_PASSES_STAGES_STAGEMAP_H

#include "lib/Schedule/Forward.h"
#include "passes/Stages/Dependence.h"
#include "passes/Stages/UnitStages.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace braid {

/// Where the ops of a program of one microbatch are computed: in the stage of their unit; what no
/// unit has, where its operands are.  What depends on inputs alone, or on weights alone, has no
/// stage, and neither has a number in a wider type: each that reads it computes it.
class StageMap {
public:
  /// Repeats ops in `program` whose value an earlier stage could make for itself.  Fails, with a message, where
  /// forward would flow back or backward forth.
  static mlir::FailureOr<StageMap> of(mlir::func::FuncOp program, const UnitStages &units);

  std::optional<unsigned> stageOf(mlir::Operation *op) const;
  /// None for arguments.
  std::optional<unsigned> stageOf(mlir::Value value) const;
  bool isBackward(mlir::Operation *op) const;
  /// The values with a stage that an op reads, itself or through what has none.
  llvm::SmallVector<mlir::Value> stagedReads(mlir::Operation *op) const { return stagedAmong(valuesReadBy(op)); }
  /// Those that some values are, or are made of where they have no stage.
  llvm::SmallVector<mlir::Value> stagedAmong(llvm::ArrayRef<mlir::Value> values) const;

  /// Of an op that was added; erases one that is about to go.
  void set(mlir::Operation *op, unsigned stage) { stages[op] = stage; }
  void erase(mlir::Operation *op) { stages.erase(op); }

  /// The arguments that some ops read, themselves or through what has no stage, in their order.
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
