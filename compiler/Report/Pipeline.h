//===- Pipeline.h - memory, traffic and waits of stages ---------*- C++ -*-===//
#ifndef BRAID_COMPILER_REPORT_PIPELINE_H
#define BRAID_COMPILER_REPORT_PIPELINE_H

#include "compiler/Report/Traffic.h"
#include "lib/Memory/Plan.h"

namespace braid {

/// Costs of a stage. Seconds and bytes are for one microbatch.
struct StageReport {
  int64_t rank;      ///< Coordinate of the ranks of the stage.
  std::string units; ///< `h.0 to h.5`; empty if the module does not state units.
  double forwardSeconds = 0, backwardSeconds = 0;
  /// Bytes kept from forward to backward for a microbatch, and the number of microbatches kept at once.
  int64_t savedBytes = 0, slots = 0;
  /// Bytes sent to the next stage, and to the previous one; 0 if that stage is on the same rank.
  int64_t activationBytes = 0, gradientBytes = 0;
};

/// Costs of the ranks with one coordinate along the axis.
struct PipelineRankReport {
  int64_t arenaBytes = 0;
  /// Bytes that a rank sends and receives in a step.
  int64_t movedBytes = 0;
  /// Share of the table's time that the rank waits, and most stage microbatches that it holds.
  double idle = 0;
  int64_t held = 0;
};

struct PipelineReport {
  std::string axis;
  int64_t microbatches = 0;
  std::vector<StageReport> stages;
  std::vector<PipelineRankReport> ranks;
  /// Predicted seconds of the table, and of the table with the update after it. Messages are sent one after the other.
  double tableSeconds = 0, stepSeconds = 0;
  /// Idle share of all ranks' time in the table.
  double bubble = 0;
};

/// Returns none for a module without a pipeline.
std::optional<PipelineReport> readPipeline(mlir::ModuleOp module, const MemoryPlan &plan, const Traffic &traffic);

void printPipeline(llvm::raw_ostream &stream, const PipelineReport &report);

} // namespace braid

#endif // BRAID_COMPILER_REPORT_PIPELINE_H
