//===- Pipeline.cpp - memory, traffic and waits of stages -----------------===//

#include "compiler/Report/Report.h"
#include "dialects/Comm/Programs.h"
#include "dialects/Comm/Timing.h"
#include "lib/Memory/Size.h"
#include "lib/Pipeline/Slots.h"
#include "lib/Schedule/PipelineTable.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace braid;
using namespace braid::pipeline;

namespace {
class PipelineReader {
public:
  PipelineReader(ModuleOp module, const PipelineTable &table, const MemoryPlan &plan, const Traffic &traffic)
      : module(module), table(table), schedule(table.getSchedule()), plan(plan), traffic(traffic) {}
  PipelineReport read();

private:
  /// Returns 0 if there is no such function.
  double secondsOf(WalkStep step) const;
  int64_t bytesOf(WalkStep step) const;
  StageTimes timesOf(unsigned stage) const;
  StageReport readStage(unsigned stage);
  int64_t movedBytes(int64_t rank);
  double updateSeconds();

  ModuleOp module;
  const PipelineTable &table;
  const Schedule &schedule;
  const MemoryPlan &plan;
  const Traffic &traffic;
};
} // namespace

static WalkStep cell(Action action, unsigned stage) { return {WalkStep::Run, action, /*isSend=*/false, stage, 0}; }
static WalkStep sends(Action action, unsigned stage) { return {WalkStep::Start, action, /*isSend=*/true, stage, 0}; }

double PipelineReader::secondsOf(WalkStep step) const {
  Operation *program = table.functionOf(step);
  std::optional<comm::Timing> timing = program ? comm::timingOf(program) : std::nullopt;
  return timing ? timing->predicted : 0;
}

int64_t PipelineReader::bytesOf(WalkStep step) const {
  auto program = dyn_cast_or_null<exec::ProgramOp>(table.functionOf(step));
  const ProgramTraffic *programTraffic = program ? traffic.program(program.getSymName()) : nullptr;
  return programTraffic ? programTraffic->movedBytes : 0;
}

/// Returns the times of a stage. A backward that is not split counts half as input gradient and half as weight
/// gradient.
StageTimes PipelineReader::timesOf(unsigned stage) const {
  StageTimes times;
  times.forward = secondsOf(cell(Action::Forward, stage));
  times.inputGradient = secondsOf(cell(Action::InputGradient, stage));
  times.weightGradient = secondsOf(cell(Action::WeightGradient, stage));
  if (double whole = secondsOf(cell(Action::Backward, stage)))
    times.inputGradient = times.weightGradient = whole / 2;
  times.sendActivation = secondsOf(sends(Action::Forward, stage));
  times.sendGradient = secondsOf(sends(Action::Backward, stage));
  return times;
}

StageReport PipelineReader::readStage(unsigned stage) {
  StageReport report{schedule.rankOf(stage), ""};
  if (auto units = table.getOp()->getAttrOfType<ArrayAttr>(comm::kStageUnits); units && stage < units.size())
    report.units = cast<StringAttr>(units[stage]).getValue();
  StageTimes times = timesOf(stage);
  report.forwardSeconds = times.forward;
  report.backwardSeconds = times.inputGradient + times.weightGradient;
  if (auto slots = module.lookupSymbol<exec::SlotsOp>(slotsName(stage, Buffer::Saved))) {
    report.savedBytes = slots.getBytes().value_or(0);
    report.slots = slots.getCount();
  }
  report.activationBytes = bytesOf(sends(Action::Forward, stage));
  report.gradientBytes = bytesOf(sends(Action::Backward, stage));
  return report;
}

/// Returns the bytes of a rank's cells, of its update, and of its messages: sent or received ones, whichever are more.
int64_t PipelineReader::movedBytes(int64_t rank) {
  int64_t bytes = 0, sent = 0, received = 0;
  for (const WalkStep &step : table.stepsOf(rank))
    if (step.kind != WalkStep::Wait)
      (step.kind == WalkStep::Run ? bytes : step.isSend ? sent : received) += bytesOf(step);
  bytes += std::max(sent, received);
  for (auto program : module.getOps<exec::ProgramOp>())
    if (StringAttr entry = comm::entryOf(program); entry && entry == "train")
      if (const ProgramTraffic *programTraffic = traffic.program(program.getSymName());
          programTraffic && llvm::is_contained(comm::rankSubsetOf(program).getCoordinates(), rank))
        bytes += programTraffic->movedBytes;
  return bytes;
}

double PipelineReader::updateSeconds() {
  double seconds = 0;
  for (auto program : module.getOps<exec::ProgramOp>())
    if (StringAttr entry = comm::entryOf(program); entry && entry == "train")
      if (std::optional<comm::Timing> timing = comm::timingOf(program))
        seconds = std::max(seconds, timing->predicted);
  return seconds;
}

PipelineReport PipelineReader::read() {
  PipelineReport report;
  report.axis = table.getOp().getAxis().str();
  report.microbatches = schedule.numMicrobatches();
  std::vector<StageTimes> times;
  for (unsigned stage = 0; stage < schedule.numStages(); ++stage) {
    report.stages.push_back(readStage(stage));
    times.push_back(timesOf(stage));
  }
  Simulation simulation(schedule);
  if (llvm::Error error = check(schedule, times)) // no prediction
    llvm::consumeError(std::move(error));
  else
    simulation = simulateQueues(schedule, times, planMessages(schedule, simulate(schedule, times)));
  report.tableSeconds = simulation.end;
  report.stepSeconds = simulation.end + updateSeconds();
  report.bubble = simulation.bubble;
  std::vector<unsigned> held = peakHeldMicrobatches(schedule);
  for (unsigned rank = 0; rank < schedule.numRanks(); ++rank) {
    PipelineRankReport rankReport;
    for (const KindPlan &kind : plan.kinds)
      if (llvm::is_contained(kind.coordinates, rank))
        rankReport.arenaBytes = kind.arenaBytes;
    rankReport.movedBytes = movedBytes(rank);
    rankReport.idle = simulation.end > 0 ? 1 - simulation.busy[rank] / simulation.end : 0;
    rankReport.held = held[rank];
    report.ranks.push_back(rankReport);
  }
  return report;
}

std::optional<PipelineReport> braid::readPipeline(ModuleOp module, const MemoryPlan &plan, const Traffic &traffic) {
  if (module.getOps<comm::PipelineOp>().empty())
    return std::nullopt;
  FailureOr<std::optional<PipelineTable>> table = PipelineTable::of(module);
  if (failed(table))
    return std::nullopt; // the verifier of the module reports the error
  return PipelineReader(module, **table, plan, traffic).read();
}

void braid::printPipeline(llvm::raw_ostream &stream, const PipelineReport &report) {
  stream << llvm::formatv("\npipeline over {0}: {1} stages on {2} ranks, {3} microbatches a step\n", report.axis,
                          report.stages.size(), report.ranks.size(), report.microbatches);
  stream << llvm::formatv("  predicted: step {0}, of which the table {1} with a bubble of ",
                          formatSeconds(report.stepSeconds), formatSeconds(report.tableSeconds))
         << llvm::format("%.1f %%\n", 100 * report.bubble);
  stream << llvm::formatv("  {0,5} {1,4} {2,9} {3,9} {4,9} {5,5} {6,10} {7,9}  {8}\n", "stage", report.axis, "forward",
                          "backward", "saves", "slots", "activation", "gradient", "units");
  for (auto [number, stage] : llvm::enumerate(report.stages))
    stream << llvm::formatv("  {0,5} {1,4} {2,9} {3,9} {4,9} {5,5} {6,10} {7,9}  {8}\n", number, stage.rank,
                            formatSeconds(stage.forwardSeconds), formatSeconds(stage.backwardSeconds),
                            formatSize(stage.savedBytes), stage.slots, formatSize(stage.activationBytes),
                            formatSize(stage.gradientBytes), stage.units);
  stream << llvm::formatv("  {0,5} {1,14} {2,16} {3,8} {4,6}\n", report.axis, "arena", "moved a step", "idle", "held");
  for (auto [number, rank] : llvm::enumerate(report.ranks))
    stream << llvm::formatv("  {0,5} {1,14} {2,16} ", number, rank.arenaBytes, rank.movedBytes)
           << llvm::format("%6.1f %% %6lld\n", 100 * rank.idle, static_cast<long long>(rank.held));
}
