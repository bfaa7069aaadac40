//===- Report.cpp - reads the report of a module --------------------------===//

#include "compiler/Report/Report.h"
#include "dialects/Comm/Timing.h"
#include "lib/Cost/Machine.h"
#include "lib/Memory/Size.h"

using namespace braid;

static std::optional<AttentionSumsReport> readAttention(mlir::ModuleOp module) {
  std::optional<AttentionSumsReport> found;
  const TargetInfo *target = targetOf(module);
  module.walk([&](exec::AttentionGradOp call) {
    if (call.getTiles())
      return;
    int64_t bytes = call.getWorkspaceBytes(target->workspace);
    if (!found || found->workspaceBytes < bytes)
      found = {call.getOrder(), bytes};
  });
  return found;
}

/// Returns the predicted seconds of a program: its computing actions one after the other, and its stalls for copies.
static double secondsOf(exec::ProgramOp program, const ComputeRates &rates) {
  std::optional<comm::Timing> scheduled = comm::timingOf(program);
  double seconds = scheduled ? scheduled->exposed : 0;
  for (auto action : program.getOps<exec::ActionOpInterface>())
    if (!comm::queueOf(action) && !isa<comm::WaitOp>(action.getOperation()))
      seconds += rates.seconds(action);
  return seconds;
}

/// Returns the predicted seconds of a step. With several ranks, the schedule predicts them.
static double stepSecondsOf(mlir::ModuleOp module, const Traffic &traffic, int64_t microbatches) {
  if (traffic.predictedSeconds)
    return *traffic.predictedSeconds;
  ComputeRates rates = machineOf(module)->compute;
  double seconds = 0;
  for (auto program : module.getOps<exec::ProgramOp>()) {
    int64_t times = program.getSymName() == "train" ? 1 : program.getSymName() == "accumulate" ? microbatches - 1 : 0;
    if (times > 0)
      seconds += times * secondsOf(program, rates);
  }
  return seconds;
}

/// Adds the totals of a step. Its moved bytes are the most that any rank moves.
static void addPipeline(const PipelineReport &pipeline, Traffic &traffic) {
  for (const PipelineRankReport &rank : pipeline.ranks)
    traffic.movedBytes = std::max(traffic.movedBytes, rank.movedBytes);
  traffic.predictedSeconds = pipeline.stepSeconds;
}

Report braid::readReport(mlir::ModuleOp module, int64_t alignment, int64_t microbatches) {
  Report report{readPlan(module, alignment), readTraffic(module, microbatches), readAttention(module)};
  report.card = targetOf(module)->gpu;
  report.pipeline = readPipeline(module, report.plan, report.traffic);
  if (report.pipeline)
    addPipeline(*report.pipeline, report.traffic);
  report.copies = readHostCopies(module);
  report.waiting = readWaitingActivations(report.plan, report.copies);
  report.stepSeconds = stepSecondsOf(module, report.traffic, microbatches);
  for (auto program : module.getOps<exec::ProgramOp>())
    if (KeptReport kept = readKept(program); !kept.units.empty())
      report.kept.push_back(std::move(kept));
  return report;
}

void braid::printReport(llvm::raw_ostream &stream, const Report &report) {
  printPlan(stream, report.plan);
  for (const KeptReport &kept : report.kept)
    printKept(stream, kept);
  if (report.attention)
    stream << "\ngradients of attention: summed in " << exec::stringifySumOrder(report.attention->order)
           << " order, with " << formatSize(report.attention->workspaceBytes) << " ("
           << report.attention->workspaceBytes << " bytes) of scratch memory\n";
  if (report.pipeline)
    printPipeline(stream, *report.pipeline);
  printTraffic(stream, report.traffic);
  printWaitingActivations(stream, report.waiting);
  printHostCopies(stream, report.copies);
  printReplays(stream, report.replays);
}
