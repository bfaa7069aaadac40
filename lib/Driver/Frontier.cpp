//===- Frontier.cpp - bytes against time, by what backward computes again -===//

#include "lib/Driver/Frontier.h"
#include "dialects/Exec/Exec.h"
#include "dialects/TG/Facts.h"
#include "lib/Cost/Cost.h"
#include "lib/Driver/Pipeline.h"
#include "lib/Driver/RecomputeOptions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
using namespace braid;

/// Prices are powers of two of the bytes that the target moves in a second.  Where more than
/// these are moved for a byte that is saved, or fewer, nothing changes between two of them: an
/// activation is computed in the time of moving some bytes, a row's mean in that of moving the
/// row, at most some thousand.
static constexpr int kMostExponent = 4, kLeastExponent = -12;

//===----------------------------------------------------------------------===//
// One choice
//===----------------------------------------------------------------------===//

namespace {
/// What may be chosen.
struct Choice {
  std::optional<ReplayWorth> replays;
  std::string statements;
};
} // namespace

static FrontierPoint measure(ModuleOp planned, const DriverOptions &options, const Choice &choice) {
  Report report = readReport(planned, targetOf(planned)->alignment, options.accumulate);
  int64_t activations = 0;
  for (const ProgramPlan &program : report.plan.programs)
    for (const CategoryBytes &held : program.byCategory)
      if (held.category == exec::Category::Activations)
        activations = std::max(activations, held.bytes);
  return {choice.replays, choice.statements, report.plan.arenaBytes, activations, report.stepSeconds};
}

static DriverOptions optionsAt(const DriverOptions &options, const Choice &choice) {
  DriverOptions at = options;
  at.emit = Emit::Memory;
  at.recompute = choice.replays ? RecomputePolicy::Auto : RecomputePolicy::None;
  at.replays = choice.replays.value_or(ReplayWorth());
  at.replayChoices = choice.statements;
  return at;
}

static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

namespace {
/// Compiles for one choice after the other.
class Points {
public:
  Points(ModuleOp module, const DriverOptions &options) : module(module), options(options) {}

  /// None if it replays what another choice does.
  FailureOr<std::optional<FrontierPoint>> at(const Choice &choice);

private:
  LogicalResult plan(ModuleOp copy, const DriverOptions &at, StringRef behind);

  ModuleOp module;
  const DriverOptions &options;
  PhaseClock untimed{/*verbose=*/false};
  llvm::StringSet<> known;
};
} // namespace

LogicalResult Points::plan(ModuleOp copy, const DriverOptions &at, StringRef behind) {
  return Lowering(at, untimed).runOn(copy, behind);
}

FailureOr<std::optional<FrontierPoint>> Points::at(const Choice &choice) {
  DriverOptions limited = optionsAt(options, choice), unlimited = limited;
  unlimited.memoryLimit.clear();
  OwningOpRef<ModuleOp> copy = module.clone();
  StringRef behind = limited.recomputes() ? "recompute" : "decompose";
  if (limited.recomputes() && failed(Lowering(limited, untimed).runOn(*copy, "decompose", "recompute")))
    return failure();
  if (!known.insert(textOf(*copy)).second)
    return std::optional<FrontierPoint>();
  OwningOpRef<ModuleOp> retry = copy->clone();
  bool keepsLimit = false;
  {
    ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
    keepsLimit = succeeded(plan(*copy, limited, behind));
  }
  if (keepsLimit)
    return std::optional(measure(*copy, limited, choice));
  if (failed(plan(*retry, unlimited, behind)))
    return failure();
  return std::optional(measure(*retry, unlimited, choice));
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

static SmallVector<std::optional<ReplayWorth>> sweep(const TargetInfo &target) {
  SmallVector<std::optional<ReplayWorth>> prices{std::nullopt};
  for (int exponent = kMostExponent; exponent >= kLeastExponent; --exponent)
    prices.push_back(ReplayWorth{std::ldexp(ComputeRates::of(target).bytesPerSecond, exponent)});
  prices.push_back(ReplayWorth{0});
  return prices;
}

static int64_t numUnits(ModuleOp module) {
  DenseSet<Attribute> units;
  module.walk([&](Operation *op) { units.insert(tg::unitOf(tg::factsOf(op))); });
  return units.size();
}

/// The fastest that keeps the budget, the smaller of two as fast.
static std::optional<size_t> fastestWithin(ArrayRef<FrontierPoint> points, int64_t bytes) {
  std::optional<size_t> fastest;
  auto key = [&](size_t at) { return std::pair(points[at].seconds, points[at].arenaBytes); };
  for (size_t at = 0; at < points.size(); ++at)
    if (points[at].arenaBytes <= bytes && (!fastest || key(at) < key(*fastest)))
      fastest = at;
  return fastest;
}

/// Between a choice that keeps the budget and the next that replays less: as few units at the
/// price of the former as keep it.  The first units of forward are the last of backward, where
/// most of what is kept has gone.
static LogicalResult refine(Frontier &frontier, Points &points, int64_t budget, int64_t units) {
  std::optional<size_t> within = fastestWithin(frontier.points, budget);
  if (!within || *within == 0)
    return success();
  auto next = frontier.points.begin() + *within;
  double finer = next->replays->bytesPerSecond;
  const std::optional<ReplayWorth> &rest = (next - 1)->replays;
  std::vector<FrontierPoint> between;
  for (int64_t least = 1, most = units; least < most;) {
    int64_t middle = (least + most) / 2;
    FailureOr<std::optional<FrontierPoint>> point =
        points.at({ReplayWorth{finer, middle, rest ? rest->bytesPerSecond : kNoReplays}, ""});
    if (failed(point))
      return failure();
    bool fits = *point && (*point)->arenaBytes <= budget;
    if (*point)
      between.push_back(**point);
    (fits ? most : least) = fits ? middle : middle + 1;
  }
  llvm::stable_sort(between,
                    [](const FrontierPoint &a, const FrontierPoint &b) { return a.replays->units < b.replays->units; });
  frontier.points.insert(next, between.begin(), between.end());
  return success();
}

FailureOr<Frontier> braid::findFrontier(ModuleOp module, const DriverOptions &options, int64_t budget) {
  ScopedDiagnosticHandler errorsOnly(module.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  Frontier frontier;
  Points points(module, options);
  for (std::optional<ReplayWorth> price : sweep(*targetOf(module))) {
    FailureOr<std::optional<FrontierPoint>> point = points.at({price, ""});
    if (failed(point))
      return failure();
    if (*point)
      frontier.points.push_back(**point);
    // Nothing needs be replayed, and nobody asked what it would cost.
    if (!price && recomputesForLimit(options) && frontier.points.front().arenaBytes <= budget)
      break;
  }
  if (failed(refine(frontier, points, budget, numUnits(module))))
    return failure();
  frontier.chosen = fastestWithin(frontier.points, budget);
  return frontier;
}

const FrontierPoint &Frontier::smallest() const {
  return *llvm::min_element(points, [](const FrontierPoint &a, const FrontierPoint &b) {
    return std::pair(a.arenaBytes, a.seconds) < std::pair(b.arenaBytes, b.seconds);
  });
}

std::vector<ReplayReport> Frontier::report() const {
  std::vector<ReplayReport> reports;
  for (auto [at, point] : llvm::enumerate(points)) {
    std::optional<double> worth;
    if (point.replays)
      worth = point.replays->bytesPerSecond;
    bool hasAllUnits = !point.replays || point.replays->units == ReplayWorth().units;
    reports.push_back({worth, hasAllUnits ? std::nullopt : std::optional(point.replays->units), point.arenaBytes,
                       point.activationBytes, point.seconds, chosen == at});
  }
  return reports;
}
