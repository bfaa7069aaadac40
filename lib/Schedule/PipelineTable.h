//===- PipelineTable.h - the table of a pipeline, and its functions -*- C++ -*-===//
#ifndef BRAID_LIB_SCHEDULE_PIPELINETABLE_H
#define BRAID_LIB_SCHEDULE_PIPELINETABLE_H

#include "dialects/Comm/Comm.h"
#include "lib/Pipeline/Walk.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

/// What the ranks along the axis of a comm.pipeline do in a step, and the functions, or programs in memory
/// form, that they do it with.
class PipelineTable {
public:
  /// None for a module without a pipeline.  Reports a table that cannot be carried out, functions that are
  /// not there, and slots that are too few.
  static mlir::FailureOr<std::optional<PipelineTable>> of(mlir::ModuleOp module);

  comm::PipelineOp getOp() const { return op; }
  const pipeline::Schedule &getSchedule() const { return schedule; }
  llvm::ArrayRef<pipeline::WalkStep> stepsOf(int64_t coordinate) const { return walk.ranks[coordinate]; }
  /// The function that a step runs, starts or waits for.
  mlir::Operation *functionOf(const pipeline::WalkStep &step) const;
  /// Which slot each microbatch has; null for slots of no stage.
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

/// Whether a function, or a program, sends or receives a message of a pipeline.
bool isPipelineMessage(mlir::Operation *function);

/// What slots of a stage are called.
std::string slotsName(unsigned stage, pipeline::Buffer buffer);

/// The kind of the cell that carries an action out.
comm::CellKind cellKindOf(pipeline::Action action);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_PIPELINETABLE_H
