//===- Overlap.cpp - communication beside computation ---------------------===//
//
// The pass puts the parts together: a program as a problem (OverlapReader), its
// solution and verification (lib/Schedule), the order applied, and what is expected
// of it as attributes and remarks.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Timing.h"
#include "lib/Memory/Lifetimes.h"
#include "lib/Memory/Size.h"
#include "lib/Schedule/Timeline.h"
#include "passes/Overlap/OverlapReader.h"
#include "passes/Overlap/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace braid {
#define GEN_PASS_DEF_OVERLAPPASS
#include "passes/Overlap/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using Kind = OverlapProblem::Kind;

static bool reducesTensors(Operation *op) {
  auto collective = dyn_cast<comm::CollectiveOpInterface>(op);
  return collective && collective.getReductionKind() &&
         llvm::any_of(comm::sentTypes(collective), [](RankedTensorType type) { return type.getRank() != 0; });
}

/// Less than this is not worth a remark.
static constexpr double kRemarkSeconds = 1e-7;

static std::string formatSeconds(double seconds) {
  if (seconds < 1e-3)
    return llvm::formatv("{0:f1} us", seconds * 1e6);
  return llvm::formatv("{0:f2} ms", seconds * 1e3);
}

namespace {
/// Says what a schedule leads to, at locations: printing the ops too would number all
/// of the function each time.
class Report {
public:
  Report(func::FuncOp function, const OverlapProgram &program, const OverlapSchedule &schedule)
      : function(function), program(program), schedule(schedule), timeline(simulate(program.problem, schedule)) {
    for (OverlapStep step : schedule.steps)
      if (step.kind == OverlapStep::Start)
        startNumbers.try_emplace(step.action, startNumbers.size());
  }

  void annotate();
  void remark();

private:
  std::string nameOf(unsigned action) const;
  Location placeOf(unsigned action) const;
  std::string reasonOf(unsigned action) const;
  void remarkUpdates() const;

  func::FuncOp function;
  const OverlapProgram &program;
  const OverlapSchedule &schedule;
  Timeline timeline;
  /// Of collectives, in the order of their starts, as ranks count them.
  llvm::DenseMap<unsigned, unsigned> startNumbers;
};
} // namespace

/// `all_reduce #7`, `all_gather h.0 #3`; what computes has the name that its location
/// carries.
std::string Report::nameOf(unsigned action) const {
  exec::ActionOpInterface op = program.actions[action];
  auto number = startNumbers.find(action);
  if (number == startNumbers.end())
    return StringRef(tensorName(op, 0)).split('#').first.str();
  auto unit = op->getAttrOfType<StringAttr>(comm::CommDialect::kUnit);
  return op.getActionName() + (unit && !unit.empty() ? " " + unit.str() : "") + " #" + std::to_string(number->second);
}

/// To the nanosecond, so that it prints short.
static double roundSeconds(double seconds) { return std::round(seconds * 1e9) / 1e9; }

void Report::annotate() {
  double exposed = 0;
  for (auto &[number, start] : startNumbers) {
    const Timeline::Collective &collective = timeline.collectives[number];
    comm::Timing timing{roundSeconds(collective.seconds), roundSeconds(collective.exposed),
                        collective.waitsFor ? nameOf(*collective.waitsFor) : std::string()};
    Operation *op = program.actions[number];
    // A start stands for the collective in it.
    if (isa<comm::StartOp>(op->getParentOp()))
      op = op->getParentOp();
    op->setAttr(comm::kTiming, timing.toAttribute(op->getContext()));
    exposed += collective.exposed;
  }
  comm::Timing whole{roundSeconds(timeline.seconds), roundSeconds(exposed), {}};
  function->setAttr(comm::kTiming, whole.toAttribute(function.getContext()));
}

/// In the user's file: what passes have made has a name alone.
Location Report::placeOf(unsigned action) const {
  Location location = program.actions[action]->getLoc();
  return location->findInstanceOf<FileLineColLoc>() ? location : function->getLoc();
}

/// Why it does not begin earlier.
std::string Report::reasonOf(unsigned action) const {
  if (schedule.heldBy[action] == HeldBy::Prefetch)
    return llvm::formatv("prefetch={0} lets it start no earlier", program.problem.prefetch);
  if (schedule.heldBy[action] == HeldBy::Memory)
    return "the memory limit lets it start no earlier";
  std::optional<unsigned> waitsFor = timeline.collectives[action].waitsFor;
  if (!waitsFor)
    return "nothing is computed before it is needed";
  return "it waits for " + nameOf(*waitsFor);
}

/// Says which collective keeps all updates from running early, where several reduce
/// gradients.
void Report::remarkUpdates() const {
  const std::vector<OverlapProblem::Action> &actions = program.problem.actions;
  std::vector<unsigned> last(actions.size(), 0);
  llvm::SmallDenseSet<unsigned> reductions, lasts;
  for (auto [number, action] : llvm::enumerate(actions))
    for (unsigned need : action.needs) {
      last[number] = std::max(last[number], actions[need].communicates() ? need : last[need]);
      if (action.kind == Kind::Update && reducesTensors(program.actions[need]))
        reductions.insert(need);
    }
  for (unsigned writer : program.writers)
    if (actions[writer].kind == Kind::Update)
      lasts.insert(last[writer]);
  if (reductions.size() > 1 && lasts.size() == 1)
    emitRemark(placeOf(program.writers.front()))
        << "updates wait for the gradients of all parameters, as after clipping by their norm: each needs "
        << nameOf(*lasts.begin()) << ", so that none runs during backward";
}

void Report::remark() {
  double total = 0, exposed = 0;
  for (unsigned number = 0; number < program.actions.size(); ++number) {
    const Timeline::Collective &collective = timeline.collectives[number];
    total += collective.seconds;
    exposed += collective.exposed;
    if (collective.exposed > kRemarkSeconds)
      emitRemark(placeOf(number)) << nameOf(number) << " is exposed for " << formatSeconds(collective.exposed)
                                  << ", it takes " << formatSeconds(collective.seconds) << ": " << reasonOf(number);
  }
  if (program.problem.earlyUpdates)
    remarkUpdates();
  emitRemark(function.getLoc()) << "the program takes " << formatSeconds(timeline.seconds) << ", of which "
                                << formatSeconds(exposed) << " wait for communication; " << startNumbers.size()
                                << (startNumbers.size() == 1 ? " collective takes " : " collectives take ")
                                << formatSeconds(total) << " on the link";
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct Overlap final : braid::impl::OverlapPassBase<Overlap> {
  using OverlapPassBase::OverlapPassBase;

  /// Whether the function is the program of a rank whose collectives are plain.
  bool applies() {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(comm::CommDialect::kProgram) || !function.getBody().hasOneBlock())
      return false;
    return function.getBody().front().getOps<comm::StartOp>().empty();
  }

  /// The program's problem with what the options say.
  FailureOr<OverlapProgram> read() {
    func::FuncOp function = getOperation();
    const TargetInfo *info = targetOf(function);
    if (!info)
      return failure();
    llvm::Expected<ComputeRates> computeRates = ComputeRates::parse(compute, *info);
    if (!computeRates)
      return function.emitError() << llvm::toString(computeRates.takeError());
    llvm::Expected<LinkRates> linkRates = LinkRates::parse(link, *info);
    if (!linkRates)
      return function.emitError() << llvm::toString(linkRates.takeError());
    std::optional<int64_t> limit = parseSize(memoryLimit);
    if (!memoryLimit.empty() && !limit)
      return function.emitError() << "invalid memory limit '" << memoryLimit
                                  << "': expected a number of bytes, with an optional KiB, MiB or GiB";
    FailureOr<OverlapProgram> program = readOverlapProgram(function, *computeRates, *linkRates, *info);
    if (failed(program))
      return failure();
    program->problem.prefetch = prefetch;
    program->problem.earlyUpdates = earlyUpdates;
    program->problem.limit = limit;
    return program;
  }

  void runOnOperation() final {
    if (!applies())
      return markAllAnalysesPreserved();
    FailureOr<OverlapProgram> program = read();
    if (failed(program))
      return signalPassFailure();
    auto fail = [&](llvm::Error error) {
      getOperation().emitError() << "hiding communication: " << llvm::toString(std::move(error));
      signalPassFailure();
    };
    if (llvm::Error error = check(program->problem))
      return fail(std::move(error));
    bool communicates = !getOperation().getBody().front().getOps<comm::CollectiveOpInterface>().empty();
    bool movesAny = communicates && !annotateOnly;
    OverlapSchedule schedule = movesAny ? solve(program->problem) : plainSchedule(program->problem);
    if (llvm::Error error = verify(program->problem, schedule))
      return fail(std::move(error));
    Report report(getOperation(), *program, schedule);
    if (communicates)
      report.remark();
    if (movesAny)
      applySchedule(getOperation(), *program, schedule);
    report.annotate();
  }
};
} // namespace
