//===- PipelineTable.h - pipeline tables with their functions ---*- C++ -*-===//
#ifndef BRAID_LIB_SCHEDULE_PIPELINETABLE_H
#define BRAID_LIB_SCHEDULE_PIPELINETABLE_H

#include "dialects/Comm/Comm.h"
#include "lib/Pipeline/Walk.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

/// The steps of the ranks along the axis of a comm.pipeline, and the functions (or programs in memory form) that carry
/// them out.
class PipelineTable {
public:
  /// Returns none for a module without a pipeline. Reports invalid tables, missing functions, and too few slots.
  static mlir::FailureOr<std::optional<PipelineTable>> of(mlir::ModuleOp module);

  comm::PipelineOp getOp() const { return op; }
  const pipeline::Schedule &getSchedule() const { return schedule; }
  llvm::ArrayRef<pipeline::WalkStep> stepsOf(int64_t coordinate) const { return walk.ranks[coordinate]; }
  /// Returns the function that a step runs, starts or waits for.
  mlir::Operation *functionOf(const pipeline::WalkStep &step) const;
  /// Returns the slot of each microbatch; null for slots that belong to no stage.
  const pipeline::BufferSlots *slotsOf(mlir::StringAttr symbol) const;

private:
  PipelineTable(comm::PipelineOp op, pipeline::Schedule schedule);
  mlir::LogicalResult findFunctions(mlir::ModuleOp module);
  mlir::LogicalResult checkSlots(mlir::ModuleOp module) const;

  comm::PipelineOp op;
  mlir::MLIRContext *context;
  pipeline::Schedule schedule;
  pipeline::Walk walk;
  llvm::DenseMap<mlir::Attribute, mlir::Operation *> functions;
};

/// Returns whether a function, or a program, sends or receives a message of a pipeline.
bool isPipelineMessage(mlir::Operation *function);

/// Returns the name of a stage's slots.
std::string slotsName(unsigned stage, pipeline::Buffer buffer);

/// Returns the kind of the cell that carries out an action.
comm::CellKind cellKindOf(pipeline::Action action);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_PIPELINETABLE_H
