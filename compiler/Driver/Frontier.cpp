//===- Frontier.cpp - memory and time of choices of recomputation ---------===//

#include "compiler/Driver/Frontier.h"
#include "compiler/Driver/RecomputeOptions.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/Replays.h"
#include "lib/Cost/Machine.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
using namespace braid;

/// Range of exponents of the prices, which are powers of two times the bytes that the target moves in a second. Outside
/// this range the choice does not change: computing an activation takes the time of moving some bytes, and a row's mean
/// takes the time of moving the row, at most some thousand bytes.
static constexpr int kMaxExponent = 4, kMinExponent = -12;

/// Number of equal steps of bytes between no replays and all replays. Each step gets a point if units are fine enough.
static constexpr int64_t kSteps = 8;

/// Number of plans that the search for single values makes: more for small programs, which compile in milliseconds,
/// than for large ones.
static constexpr int64_t kMinTrials = 16, kMaxTrials = 256, kOpsOfAllTrials = 10'000;

/// A point within the budget is not improved if it is slower than the fastest point by less than this factor.
static constexpr double kTimeTolerance = 1.005;

//===----------------------------------------------------------------------===//
// One choice
//===----------------------------------------------------------------------===//

void braid::applyReplayChoice(DriverOptions &options, ModuleOp module, const ReplayChoice &choice) {
  RecomputePassOptions &recompute = options.passes.recompute;
  const ReplayThreshold worth = choice.worth.value_or(ReplayThreshold());
  recompute.policy = choice.worth ? RecomputePolicy::Auto : RecomputePolicy::None;
  recompute.bytesPerSecond = worth.bytesPerSecond;
  recompute.units = worth.units;
  recompute.restBytesPerSecond = worth.restBytesPerSecond;
  if (choice.values.empty())
    return;
  auto values = valuesByName(module);
  for (const ValueChoice &value : choice.values)
    for (Operation *op : values[value.name])
      op->setAttr(tg::kKept, BoolAttr::get(op->getContext(), value.isKept));
}

static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

namespace {
/// Compiles the graph for one choice after the other.
class Points {
public:
  Points(ModuleOp module, const DriverOptions &options) : module(module), options(options) {}

  /// Returns none if another choice replays the same values.
  FailureOr<std::optional<FrontierPoint>> at(const ReplayChoice &choice);
  MLIRContext *getContext() { return module.getContext(); }

private:
  ModuleOp module;
  const DriverOptions &options;
  llvm::StringSet<> known;
};
} // namespace

FailureOr<std::optional<FrontierPoint>> Points::at(const ReplayChoice &choice) {
  DriverOptions chosen = optionsOfTrial(options);
  OwningOpRef<ModuleOp> copy = module.clone();
  applyReplayChoice(chosen, *copy, choice);
  // Not every value can be replayed. Verifies here, because the choices differ only in this phase.
  if (failed(runPhases(*copy, chosen, Phase::Recompute, Phase::Stages)) || failed(mlir::verify(*copy)))
    return failure();
  if (!known.insert(textOf(*copy)).second)
    return std::optional<FrontierPoint>();
  FailureOr<PlanCost> cost = planTrial(*copy, chosen, Phase::Stages);
  if (failed(cost))
    return failure();
  return std::optional(FrontierPoint{choice, *cost});
}

//===----------------------------------------------------------------------===//
// All choices
//===----------------------------------------------------------------------===//

static SmallVector<std::optional<ReplayThreshold>> sweep(double bytesPerSecond) {
  SmallVector<std::optional<ReplayThreshold>> prices{std::nullopt};
  for (int exponent = kMaxExponent; exponent >= kMinExponent; --exponent)
    prices.push_back(ReplayThreshold{std::ldexp(bytesPerSecond, exponent)});
  prices.push_back(ReplayThreshold{0});
  return prices;
}

static int64_t numUnits(ModuleOp module) {
  llvm::DenseSet<Attribute> units;
  module.walk([&](Operation *op) { units.insert(tg::unitOf(tg::factsOf(op))); });
  return units.size();
}

/// Returns the index of the fastest point within `bytes`; of equally fast points, the one with the smaller arena.
static std::optional<size_t> fastestWithin(ArrayRef<FrontierPoint> points, int64_t bytes) {
  std::optional<size_t> fastest;
  auto key = [&](size_t at) { return std::pair(points[at].cost.seconds, points[at].cost.arenaBytes); };
  for (size_t at = 0; at < points.size(); ++at)
    if (points[at].cost.arenaBytes <= bytes && (!fastest || key(at) < key(*fastest)))
      fastest = at;
  return fastest;
}

/// Returns a choice that replays like `finer` in the first units of forward, and like `coarser` in the others. The
/// caller sets the number of these units.
static ReplayThreshold between(const FrontierPoint &coarser, const FrontierPoint &finer) {
  const std::optional<ReplayThreshold> &rest = coarser.choice.worth;
  double bytesPerSecond = finer.choice.worth->bytesPerSecond;
  if (!rest)
    return {bytesPerSecond};
  bool isSame = rest->bytesPerSecond == bytesPerSecond;
  return {bytesPerSecond, 0, isSame ? rest->restBytesPerSecond : rest->bytesPerSecond};
}

/// Adds points between neighbours that are more than a step apart; they use the finer price in some units.
static LogicalResult addIntermediatePoints(Frontier &frontier, Points &points, int64_t units) {
  auto arena = [](const FrontierPoint &point) { return point.cost.arenaBytes; };
  auto [lowest, highest] = std::minmax_element(frontier.points.begin(), frontier.points.end(),
                                               [&](const auto &a, const auto &b) { return arena(a) < arena(b); });
  int64_t step = std::max<int64_t>(1, (arena(*highest) - arena(*lowest)) / kSteps);
  std::vector<FrontierPoint> all{frontier.points.front()};
  for (size_t at = 1; at < frontier.points.size(); ++at) {
    const FrontierPoint &coarser = frontier.points[at - 1], &finer = frontier.points[at];
    int64_t inner = std::min(std::abs(arena(coarser) - arena(finer)) / step, units - 1);
    ReplayThreshold worth = between(coarser, finer);
    for (int64_t number = 1; number <= inner; ++number) {
      worth.units = units * number / (inner + 1);
      FailureOr<std::optional<FrontierPoint>> point = points.at({worth});
      if (failed(point))
        return failure();
      if (*point)
        all.push_back(**point);
    }
    all.push_back(finer);
  }
  frontier.points = std::move(all);
  return success();
}

/// Refines between the choice that keeps the budget and the next one that replays less: uses the price of the former in
/// as few units as keep the budget. Starts with the first units of forward, which backward reaches last, when most kept
/// values are already freed.
static LogicalResult refine(Frontier &frontier, Points &points, int64_t budget, int64_t units) {
  std::optional<size_t> within = fastestWithin(frontier.points, budget);
  if (!within || *within == 0)
    return success();
  auto finer = frontier.points.begin() + *within, coarser = finer - 1;
  ReplayThreshold worth = between(*coarser, *finer);
  const std::optional<ReplayThreshold> &before = coarser->choice.worth;
  bool isSame = before && before->bytesPerSecond == worth.bytesPerSecond;
  int64_t lowest = isSame ? before->units + 1 : 1, highest = std::min(units, finer->choice.worth->units);
  std::vector<FrontierPoint> found;
  while (lowest < highest) {
    worth.units = (lowest + highest) / 2;
    FailureOr<std::optional<FrontierPoint>> point = points.at({worth});
    if (failed(point))
      return failure();
    bool fits = *point && (*point)->cost.arenaBytes <= budget;
    if (*point)
      found.push_back(**point);
    (fits ? highest : lowest) = fits ? worth.units : worth.units + 1;
  }
  llvm::stable_sort(found, [](const FrontierPoint &a, const FrontierPoint &b) {
    return a.choice.worth->units < b.choice.worth->units;
  });
  frontier.points.insert(finer, found.begin(), found.end());
  return success();
}

/// Returns `choice` with `value` in place of what `choice` states about the same name.
static ReplayChoice withValue(const ReplayChoice &choice, ValueChoice value) {
  ReplayChoice changed{choice.worth.value_or(ReplayThreshold{kNoReplays}), {value}};
  for (const ValueChoice &other : choice.values)
    if (other.name != value.name)
      changed.values.push_back(other);
  return changed;
}

namespace {
/// A point, the first of its neighbours to try, and the number of neighbours tried.
struct Explored {
  FrontierPoint point;
  size_t first, tried = 0;
};
} // namespace

/// Searches from the best point with an untried neighbour: a neighbour keeps or replays the values of one more name.
/// Points nearer to the budget are better, then faster points. One price for all units cannot fill a budget exactly,
/// and ignores that replays themselves can raise the peak. Where several peaks are equally high, the search must also
/// take changes that do not help alone.
static void search(Frontier &frontier, Points &points, int64_t budget, ArrayRef<StringAttr> names, int64_t tries) {
  auto key = [&](const FrontierPoint &of) {
    const PlanCost &cost = of.cost;
    return std::tuple(std::max<int64_t>(cost.arenaBytes - budget, 0), cost.seconds, cost.arenaBytes);
  };
  auto isBetter = [&](const FrontierPoint &a, const FrontierPoint &b) { return key(a) < key(b); };
  std::vector<Explored> explored;
  for (const FrontierPoint &point : frontier.points)
    explored.push_back({point, 0});
  FrontierPoint best = *llvm::min_element(frontier.points, isBetter);
  // Not every value can be replayed.
  ScopedDiagnosticHandler quiet(points.getContext(), [](Diagnostic &) { return success(); });
  size_t moves = 2 * names.size();
  double lowest = llvm::min_element(frontier.points, [](const auto &a, const auto &b) {
                    return a.cost.seconds < b.cost.seconds;
                  })->cost.seconds;
  auto isGood = [&] { return best.cost.arenaBytes <= budget && best.cost.seconds <= kTimeTolerance * lowest; };
  while (tries > 0 && !isGood()) {
    Explored *from = nullptr;
    for (Explored &state : explored)
      if (state.tried < moves && (!from || isBetter(state.point, from->point)))
        from = &state;
    if (!from)
      return;
    size_t move = (from->first + from->tried++) % moves;
    FailureOr<std::optional<FrontierPoint>> point =
        points.at(withValue(from->point.choice, {names[move / 2], /*isKept=*/move % 2 == 0}));
    if (failed(point) || !*point)
      continue;
    --tries;
    if (isBetter(**point, best)) {
      best = **point;
      frontier.points.push_back(best);
    }
    explored.push_back({**point, move + 1});
  }
}

static int64_t numTrials(ModuleOp module) {
  int64_t ops = 0;
  module.walk([&](Operation *) { ++ops; });
  return std::clamp(kOpsOfAllTrials / ops, kMinTrials, kMaxTrials);
}

FailureOr<Frontier> braid::findFrontier(ModuleOp module, const DriverOptions &options, int64_t budget) {
  ScopedDiagnosticHandler errorsOnly(module.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  Frontier frontier;
  Points points(module, options);
  for (std::optional<ReplayThreshold> price : sweep(machineOf(module)->compute.bytesPerSecond)) {
    FailureOr<std::optional<FrontierPoint>> point = points.at({price});
    if (failed(point))
      return failure();
    if (*point)
      frontier.points.push_back(**point);
    // The arena fits without replays, and the user did not ask for their costs.
    if (!price && recomputesForLimit(options) && frontier.points.front().cost.arenaBytes <= budget) {
      frontier.chosen = 0;
      return frontier;
    }
  }
  int64_t units = numUnits(module);
  if (failed(addIntermediatePoints(frontier, points, units)) || failed(refine(frontier, points, budget, units)))
    return failure();
  auto names = llvm::to_vector(llvm::make_first_range(valuesByName(module)));
  search(frontier, points, budget, names, numTrials(module));
  frontier.chosen = fastestWithin(frontier.points, budget);
  return frontier;
}

const FrontierPoint &Frontier::best() const {
  if (chosen)
    return points[*chosen];
  return *llvm::min_element(points, [](const FrontierPoint &a, const FrontierPoint &b) {
    return std::pair(a.cost.arenaBytes, a.cost.seconds) < std::pair(b.cost.arenaBytes, b.cost.seconds);
  });
}

std::vector<ReplayReport> Frontier::report() const {
  std::vector<ReplayReport> reports;
  for (const auto &[at, point] : llvm::enumerate(points)) {
    const std::optional<ReplayThreshold> &replays = point.choice.worth;
    std::optional<double> worth;
    if (replays && replays->bytesPerSecond < kNoReplays)
      worth = replays->bytesPerSecond;
    bool hasAllUnits = !worth || replays->units == ReplayThreshold().units;
    std::vector<std::string> values;
    for (const ValueChoice &value : point.choice.values)
      values.push_back("*/" + value.name.str() + (value.isKept ? ": keep" : ": replay"));
    reports.push_back({worth, hasAllUnits ? std::nullopt : std::optional(replays->units), std::move(values),
                       point.cost.arenaBytes, point.cost.activationBytes, point.cost.seconds, chosen == at});
  }
  return reports;
}
