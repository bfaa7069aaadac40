//===- Pipeline.h - what stages of a pipeline hold, send and wait for -*- C++ -*-===//
#ifndef BRAID_LIB_REPORT_PIPELINE_H
#define BRAID_LIB_REPORT_PIPELINE_H

#include "lib/Memory/Plan.h"
#include "lib/Report/Traffic.h"

namespace braid {

/// Seconds and bytes are those of one microbatch.
struct StageReport {
  int64_t rank;      ///< The coordinate of its ranks.
  std::string units; ///< `h.0 to h.5`; empty where the module does not say.
  double forwardSeconds = 0, backwardSeconds = 0;
  /// What it keeps from forward to backward, and for how many microbatches at once.
  int64_t savedBytes = 0, slots = 0;
  /// What it sends to the next stage, and to the one before; 0 where that is on the same rank.
  int64_t activationBytes = 0, gradientBytes = 0;
};

/// Of the ranks with one coordinate along the axis.
struct PipelineRankReport {
  int64_t arenaBytes = 0;
  /// What a rank sends and receives in a step.
  int64_t movedBytes = 0;
  /// The share of the table's time in which it waits, and the most microbatches of stages that it holds.
  double idle = 0;
  int64_t held = 0;
};

struct PipelineReport {
  std::string axis;
  int64_t microbatches = 0;
  std::vector<StageReport> stages;
  std::vector<PipelineRankReport> ranks;
  /// Of the table, and with the update behind it; predicted, with messages one after the other.
  double tableSeconds = 0, stepSeconds = 0;
  /// The share of all ranks' time in the table in which they are idle.
  double bubble = 0;
};

/// None for a module without a pipeline.
std::optional<PipelineReport> readPipeline(mlir::ModuleOp module, const MemoryPlan &plan, const Traffic &traffic);

void printPipeline(llvm::raw_ostream &stream, const PipelineReport &report);

} // namespace braid

#endif // BRAID_LIB_REPORT_PIPELINE_H
