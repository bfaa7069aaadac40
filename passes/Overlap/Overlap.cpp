//===- Overlap.cpp - overlap communication with computation ---------------===//
//
// Combines buffers (lib/Memory), a program as an overlap problem (OverlapReader), its solution and verification
// (lib/Schedule), the application of the order, and predictions as attributes and remarks.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Timing.h"
#include "lib/Cost/Cost.h"
#include "lib/Memory/ContentNames.h"
#include "lib/Memory/LeadingDimPadding.h"
#include "lib/Memory/Lifetimes.h"
#include "lib/Memory/Persistent.h"
#include "lib/Memory/RecordedAssignment.h"
#include "lib/Memory/Size.h"
#include "lib/Schedule/Timeline.h"
#include "passes/Overlap/OverlapReader.h"
#define GEN_PASS_DEF_OVERLAPPASS
#include "passes/Overlap/Passes.h"
#include "passes/Overlap/Prefetch.h"
#include "llvm/Support/FormatVariadic.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace braid;
using Kind = OverlapProblem::Kind;

static bool reducesTensors(Operation *op) {
  auto collective = dyn_cast<comm::CollectiveOpInterface>(op);
  return collective && collective.getReductionKind() &&
         llvm::any_of(comm::sentTypes(collective), [](RankedTensorType type) { return type.getRank() != 0; });
}

/// Shorter times get no remark.
static constexpr double kRemarkSeconds = 1e-7;

static std::string formatSeconds(double seconds) {
  if (seconds < 1e-3)
    return formatMicroseconds(seconds);
  return llvm::formatv("{0:f2} ms", seconds * 1e3);
}

namespace {
/// Reports the predictions of a schedule. Remarks are emitted at locations, because printing an op numbers all values
/// of the function each time.
class Report {
public:
  Report(func::FuncOp function, const OverlapProgram &program, const OverlapSchedule &schedule)
      : function(function), program(program), schedule(schedule), timeline(simulate(program.problem, schedule)),
        names(function) {
    for (OverlapStep step : schedule.steps)
      if (step.kind == OverlapStep::Start)
        startNumbers.try_emplace(step.action, started[queueOf(step.action)]++);
  }

  void annotate();
  void remark();

private:
  unsigned queueOf(unsigned action) const { return program.problem.actions[action].queue; }
  std::string nameOf(unsigned action) const;
  Location placeOf(unsigned action) const;
  std::string reasonOf(unsigned action) const;
  void remarkUpdates() const;

  func::FuncOp function;
  const OverlapProgram &program;
  const OverlapSchedule &schedule;
  Timeline timeline;
  ContentNames names;
  /// Number of starts on each queue, and the number of each start on its queue. Ranks count collectives in the same
  /// way.
  std::array<unsigned, OverlapProblem::kNumQueues> started = {};
  llvm::DenseMap<unsigned, unsigned> startNumbers;
};
} // namespace

/// Returns a name such as `all_reduce #7` or `all_gather h.0 #3`. A computing action is named by its location.
std::string Report::nameOf(unsigned action) const {
  exec::ActionOpInterface op = program.actions[action];
  auto number = startNumbers.find(action);
  if (number == startNumbers.end())
    return StringRef(names.nameOf(op, 0)).split('#').first.str();
  auto unit = op->getAttrOfType<StringAttr>(comm::CommDialect::kUnit);
  return op.getActionName() + (unit && !unit.empty() ? " " + unit.str() : "") + " #" + std::to_string(number->second);
}

/// Rounds to nanoseconds, so that the number prints short.
static double roundSeconds(double seconds) { return std::round(seconds * 1e9) / 1e9; }

static comm::Timing timingOf(const Timeline &timeline) {
  double exposed = 0;
  for (const Timeline::Collective &collective : timeline.collectives)
    exposed += collective.exposed;
  return {roundSeconds(timeline.seconds), roundSeconds(exposed), {}};
}

void Report::annotate() {
  for (auto [number, start] : startNumbers) {
    const Timeline::Collective &collective = timeline.collectives[number];
    comm::Timing timing{roundSeconds(collective.seconds), roundSeconds(collective.exposed),
                        collective.waitsFor ? nameOf(*collective.waitsFor) : std::string()};
    Operation *op = program.actions[number];
    // A start stands for its collective.
    if (isa<comm::StartOp>(op->getParentOp()))
      op = op->getParentOp();
    op->setAttr(comm::kTiming, timing.toAttribute(op->getContext()));
  }
  function->setAttr(comm::kTiming, timingOf(timeline).toAttribute(function.getContext()));
  if (!program.problem.limit)
    return;
  OverlapProblem unlimited = program.problem;
  unlimited.limit.reset();
  comm::Timing unlimitedTiming = timingOf(simulate(unlimited, solve(unlimited)));
  if (unlimitedTiming.predicted < roundSeconds(timeline.seconds))
    function->setAttr(comm::kTimingWithoutLimit, unlimitedTiming.toAttribute(function.getContext()));
}

/// Returns a location in the user's file. Ops made by passes have only a name, so they get the function's location.
Location Report::placeOf(unsigned action) const {
  Location location = program.actions[action]->getLoc();
  return location->findInstanceOf<FileLineColLoc>() ? location : function->getLoc();
}

/// Returns why an action does not start earlier.
std::string Report::reasonOf(unsigned action) const {
  if (schedule.heldBy[action] == HeldBy::Prefetch)
    return llvm::formatv("prefetch={0} prevents an earlier start", program.problem.maxAhead(queueOf(action)));
  if (schedule.heldBy[action] == HeldBy::Memory)
    return "the memory limit prevents an earlier start";
  std::optional<unsigned> waitsFor = timeline.collectives[action].waitsFor;
  if (!waitsFor)
    return "no compute stands between its start and its use";
  return "it waits for " + nameOf(*waitsFor);
}

/// Reports the collective that keeps all updates from running early, if several collectives reduce gradients.
void Report::remarkUpdates() const {
  const std::vector<OverlapProblem::Action> &actions = program.problem.actions;
  std::vector<unsigned> last(actions.size(), 0);
  llvm::DenseSet<unsigned> reductions, lasts;
  for (auto [number, action] : llvm::enumerate(actions))
    for (unsigned dependence : action.dependences) {
      if (actions[dependence].queue == OverlapProblem::kRanks)
        last[number] = std::max(last[number], actions[dependence].communicates() ? dependence : last[dependence]);
      if (action.kind == Kind::Update && reducesTensors(program.actions[dependence]))
        reductions.insert(dependence);
    }
  for (unsigned writer : program.writers)
    if (actions[writer].kind == Kind::Update)
      lasts.insert(last[writer]);
  if (reductions.size() > 1 && lasts.size() == 1)
    emitRemark(placeOf(program.writers.front()))
        << "updates wait for the gradients of all parameters, for example to clip them by their norm: each needs "
        << nameOf(*lasts.begin()) << ", so no update runs during backward";
}

void Report::remark() {
  std::array<double, OverlapProblem::kNumQueues> total = {};
  double exposed = 0;
  for (unsigned number = 0; number < program.actions.size(); ++number) {
    const Timeline::Collective &collective = timeline.collectives[number];
    total[queueOf(number)] += collective.seconds;
    exposed += collective.exposed;
    if (collective.exposed > kRemarkSeconds)
      emitRemark(placeOf(number)) << nameOf(number) << " is exposed for " << formatSeconds(collective.exposed)
                                  << " of its " << formatSeconds(collective.seconds) << ": " << reasonOf(number);
  }
  if (program.problem.earlyUpdates)
    remarkUpdates();
  unsigned collectives = started[OverlapProblem::kRanks];
  emitRemark(function.getLoc()) << "the program takes " << formatSeconds(timeline.seconds) << ", of which "
                                << formatSeconds(exposed) << " wait for communication; " << collectives
                                << (collectives == 1 ? " collective takes " : " collectives take ")
                                << formatSeconds(total[OverlapProblem::kRanks]) << " on the link";
  if (started[OverlapProblem::kFromHost] + started[OverlapProblem::kToHost] > 0)
    emitRemark(function.getLoc()) << "copies from the host take " << formatSeconds(total[OverlapProblem::kFromHost])
                                  << " in " << started[OverlapProblem::kFromHost] << ", copies to the host "
                                  << formatSeconds(total[OverlapProblem::kToHost]) << " in "
                                  << started[OverlapProblem::kToHost];
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static bool communicates(func::FuncOp function) {
  return !function.getBody().front().getOps<comm::QueuedOpInterface>().empty();
}

/// Whether the function is the program of a rank, or copies from the host, and has no separate starts and waits yet.
static bool applies(func::FuncOp function) {
  if (!function.getBody().hasOneBlock() || !function.getBody().front().getOps<comm::StartOp>().empty())
    return false;
  return function->hasAttr(comm::CommDialect::kProgram) || communicates(function);
}

namespace {
struct Overlap final : braid::impl::OverlapPassBase<Overlap> {
  using OverlapPassBase::OverlapPassBase;

  LogicalResult readOptions();
  LogicalResult assignAll();
  LogicalResult schedule(func::FuncOp function);

  void runOnOperation() final {
    if (failed(readOptions()) || failed(assignAll()))
      return signalPassFailure();
    for (func::FuncOp function : programs)
      if (applies(function) && failed(schedule(function)))
        return signalPassFailure();
  }

  FailureOr<Machine> machine;
  const TargetInfo *info = nullptr;
  std::optional<int64_t> limit;
  int64_t padded = 0; ///< Bytes to which rows are padded.
  SmallVector<func::FuncOp> programs;
  PersistentTensors tensors;
  /// Places of the functions in which communication moves.
  llvm::DenseMap<Operation *, Places> assigned;
  int64_t workspace = 0;
};
} // namespace

LogicalResult Overlap::readOptions() {
  ModuleOp module = getOperation();
  machine = machineOf(module);
  if (failed(machine))
    return failure();
  info = machine->target;
  FailureOr<std::optional<int64_t>> given = memoryLimitOf(memoryLimit, module.getLoc());
  if (failed(given))
    return failure();
  limit = *given;
  FailureOr<int64_t> requested = rowAlignmentOf(rowAlignment, *info, module.getLoc());
  padded = requested.value_or(0);
  return requested;
}

/// Assigns buffers in functions where communication moves. All programs of the module share the arena, so all of them
/// contribute the memory beside the buffers of one program.
LogicalResult Overlap::assignAll() {
  programs = llvm::to_vector(getOperation().getOps<func::FuncOp>());
  llvm::erase_if(programs, [](func::FuncOp function) { return !function.getBody().hasOneBlock(); });
  FailureOr<PersistentTensors> collected = PersistentTensors::collect(programs, info->alignment, padded);
  if (failed(collected))
    return failure();
  tensors = std::move(*collected);
  for (func::FuncOp function : programs) {
    if (!applies(function))
      continue;
    if (failed(requireActions(function)))
      return failure();
    if (annotateOnly || !communicates(function))
      continue;
    FailureOr<Places> places = assignBuffers(function, padded);
    if (failed(places))
      return failure();
    assigned[function] = std::move(*places);
  }
  for (func::FuncOp function : programs)
    workspace =
        std::max(workspace,
                 workspaceBytes(llvm::to_vector(function.getBody().front().getOps<exec::ActionOpInterface>()), *info));
  return success();
}

LogicalResult Overlap::schedule(func::FuncOp function) {
  auto places = assigned.find(function);
  bool moves = places != assigned.end();
  ActionGraph graph(function.getBody().front());
  if (moves)
    graph.addMemoryOrder(places->second);
  FailureOr<OverlapProgram> program = readOverlapProgram(function, graph, *machine);
  if (failed(program))
    return failure();
  OverlapProblem &problem = program->problem;
  problem.earlyUpdates = earlyUpdates;
  problem.limit = moves ? limit : std::nullopt;
  if (moves) {
    problem.buffers = liveBuffers(places->second, workspace, *info);
    problem.baseBytes = tensors.bytesBelow(function, info->alignment);
  }
  auto fail = [&](llvm::Error error) {
    return function.emitError() << "hiding communication: " << llvm::toString(std::move(error));
  };
  if (llvm::Error error = check(problem))
    return fail(std::move(error));
  if (prefetch >= 0)
    problem.prefetch = prefetch;
  else if (moves)
    choosePrefetch(problem, info->alignment);
  OverlapSchedule schedule = moves ? solveFor(problem, info->alignment) : programOrderSchedule(problem);
  if (llvm::Error error = verify(problem, schedule))
    return fail(std::move(error));
  Report report(function, *program, schedule);
  if (communicates(function))
    report.remark();
  if (moves) {
    applySchedule(function, *program, schedule, places->second);
    recordAssignment(function, places->second, peakBytes(problem, schedule));
  }
  report.annotate();
  return success();
}
