//===- Frontier.cpp - memory and time of choices of recomputation ---------===//

#include "compiler/Driver/Frontier.h"
#include "compiler/Driver/Pipeline.h"
#include "compiler/Driver/RecomputeOptions.h"
#include "dialects/TG/Facts.h"
#include "lib/Cost/Machine.h"
#include "lib/Schedule/Forward.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "passes/Recompute/Choices.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
using namespace braid;

/// Range of exponents of the prices, which are powers of two times the bytes that the target moves in a second. Outside
/// this range the choice does not change: computing an activation takes the time of moving some bytes, and a row's mean
/// takes the time of moving the row, at most some thousand bytes.
static constexpr int kMostExponent = 4, kLeastExponent = -12;

/// Number of equal steps of bytes between no replays and all replays. Each step gets a point if units are fine enough.
static constexpr int64_t kSteps = 8;

/// Number of plans that the search for single values makes: more for small programs, which compile in milliseconds,
/// than for large ones.
static constexpr int64_t kLeastTries = 16, kMostTries = 256, kOpsOfAllTries = 10'000;

/// A point within the budget is not improved if it is slower than the fastest point by less than this factor.
static constexpr double kAsFast = 1.005;

//===----------------------------------------------------------------------===//
// One choice
//===----------------------------------------------------------------------===//

static DriverOptions optionsAt(const DriverOptions &options, const ReplayChoice &choice) {
  DriverOptions at = options;
  at.emit = Emit::Memory;
  at.isTrial = true;
  useReplays(at, choice);
  return at;
}

void braid::useReplays(DriverOptions &options, const ReplayChoice &choice) {
  RecomputePassOptions &recompute = options.passes.recompute;
  const ReplayWorth worth = choice.worth.value_or(ReplayWorth());
  recompute.policy = choice.worth ? RecomputePolicy::Auto : RecomputePolicy::None;
  recompute.bytesPerSecond = worth.bytesPerSecond;
  recompute.units = worth.units;
  recompute.restBytesPerSecond = worth.restBytesPerSecond;
  recompute.choices = choice.statements;
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
  DriverOptions chosen = optionsAt(options, choice);
  chosen.printIrAfter.clear();
  PhaseClock untimed(/*verbose=*/false);
  OwningOpRef<ModuleOp> copy = module.clone();
  StringRef behind = chosen.recomputes() ? "recompute" : "decompose";
  // Not every value can be replayed. Verifies here, because the choices differ only in these phases.
  if (chosen.recomputes() &&
      (failed(Lowering(chosen, untimed).runOn(*copy, "decompose", "recompute")) || failed(mlir::verify(*copy))))
    return failure();
  if (!known.insert(textOf(*copy)).second)
    return std::optional<FrontierPoint>();
  FailureOr<Trial> trial = tryPlan(*copy, chosen, behind);
  if (failed(trial))
    return failure();
  return std::optional(FrontierPoint{choice, *trial});
}

//===----------------------------------------------------------------------===//
// All choices
//===----------------------------------------------------------------------===//

static SmallVector<std::optional<ReplayWorth>> sweep(double bytesPerSecond) {
  SmallVector<std::optional<ReplayWorth>> prices{std::nullopt};
  for (int exponent = kMostExponent; exponent >= kLeastExponent; --exponent)
    prices.push_back(ReplayWorth{std::ldexp(bytesPerSecond, exponent)});
  prices.push_back(ReplayWorth{0});
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
  auto key = [&](size_t at) { return std::pair(points[at].trial.seconds, points[at].trial.arenaBytes); };
  for (size_t at = 0; at < points.size(); ++at)
    if (points[at].trial.arenaBytes <= bytes && (!fastest || key(at) < key(*fastest)))
      fastest = at;
  return fastest;
}

/// Returns a choice that replays like `finer` in the first units of forward, and like `coarser` in the others. The
/// caller sets the number of these units.
static ReplayWorth between(const FrontierPoint &coarser, const FrontierPoint &finer) {
  const std::optional<ReplayWorth> &rest = coarser.choice.worth;
  double bytesPerSecond = finer.choice.worth->bytesPerSecond;
  if (!rest)
    return {bytesPerSecond};
  bool isSame = rest->bytesPerSecond == bytesPerSecond;
  return {bytesPerSecond, 0, isSame ? rest->restBytesPerSecond : rest->bytesPerSecond};
}

/// Adds points between neighbours that are more than a step apart; they use the finer price in some units.
static LogicalResult spread(Frontier &frontier, Points &points, int64_t units) {
  auto arena = [](const FrontierPoint &point) { return point.trial.arenaBytes; };
  auto [least, most] = std::minmax_element(frontier.points.begin(), frontier.points.end(),
                                           [&](const auto &a, const auto &b) { return arena(a) < arena(b); });
  int64_t step = std::max<int64_t>(1, (arena(*most) - arena(*least)) / kSteps);
  std::vector<FrontierPoint> all{frontier.points.front()};
  for (size_t at = 1; at < frontier.points.size(); ++at) {
    const FrontierPoint &coarser = frontier.points[at - 1], &finer = frontier.points[at];
    int64_t inner = std::min(std::abs(arena(coarser) - arena(finer)) / step, units - 1);
    ReplayWorth worth = between(coarser, finer);
    for (int64_t number = 1; number <= inner; ++number) {
      worth.units = units * number / (inner + 1);
      FailureOr<std::optional<FrontierPoint>> point = points.at({worth, ""});
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
  ReplayWorth worth = between(*coarser, *finer);
  const std::optional<ReplayWorth> &before = coarser->choice.worth;
  bool isSame = before && before->bytesPerSecond == worth.bytesPerSecond;
  int64_t least = isSame ? before->units + 1 : 1, most = std::min(units, finer->choice.worth->units);
  std::vector<FrontierPoint> found;
  while (least < most) {
    worth.units = (least + most) / 2;
    FailureOr<std::optional<FrontierPoint>> point = points.at({worth, ""});
    if (failed(point))
      return failure();
    bool fits = *point && (*point)->trial.arenaBytes <= budget;
    if (*point)
      found.push_back(**point);
    (fits ? most : least) = fits ? worth.units : worth.units + 1;
  }
  llvm::stable_sort(found, [](const FrontierPoint &a, const FrontierPoint &b) {
    return a.choice.worth->units < b.choice.worth->units;
  });
  frontier.points.insert(finer, found.begin(), found.end());
  return success();
}

/// Returns the names of the values that forward computes, in its order. Equal units share names.
static SmallVector<std::string> namesOfValues(ModuleOp module) {
  SmallVector<std::string> names;
  for (auto program : module.getOps<func::FuncOp>()) {
    if (program.isExternal() || !isTraining(program))
      continue;
    ForwardValues values(program);
    for (Operation *op : values.getOps()) {
      std::string full = nameOfForward(op), name = StringRef(full).rsplit('/').second.str();
      if (!isSeenThrough(op) && !llvm::is_contained(names, name))
        names.push_back(std::move(name));
    }
  }
  return names;
}

/// Returns `choice` with the values of `name` kept or replayed, regardless of what `choice` states about them.
static ReplayChoice withValue(const ReplayChoice &choice, StringRef name, StringRef what) {
  std::string about = "*/" + name.str() + ": ";
  ReplayChoice changed{choice.worth.value_or(ReplayWorth{kNoReplays}), about + what.str() + "\n"};
  SmallVector<StringRef> statements;
  StringRef(choice.statements).split(statements, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef statement : statements)
    if (!statement.starts_with(about))
      changed.statements += (statement + "\n").str();
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
static void search(Frontier &frontier, Points &points, int64_t budget, ArrayRef<std::string> names, int64_t tries) {
  auto key = [&](const FrontierPoint &of) {
    const Trial &trial = of.trial;
    return std::tuple(std::max<int64_t>(trial.arenaBytes - budget, 0), trial.seconds, trial.arenaBytes);
  };
  auto isBetter = [&](const FrontierPoint &a, const FrontierPoint &b) { return key(a) < key(b); };
  std::vector<Explored> explored;
  for (const FrontierPoint &point : frontier.points)
    explored.push_back({point, 0});
  FrontierPoint best = *llvm::min_element(frontier.points, isBetter);
  // Not every value can be replayed.
  ScopedDiagnosticHandler quiet(points.getContext(), [](Diagnostic &) { return success(); });
  size_t moves = 2 * names.size();
  double least = llvm::min_element(frontier.points, [](const auto &a, const auto &b) {
                   return a.trial.seconds < b.trial.seconds;
                 })->trial.seconds;
  auto isGood = [&] { return best.trial.arenaBytes <= budget && best.trial.seconds <= kAsFast * least; };
  while (tries > 0 && !isGood()) {
    Explored *from = nullptr;
    for (Explored &state : explored)
      if (state.tried < moves && (!from || isBetter(state.point, from->point)))
        from = &state;
    if (!from)
      return;
    size_t move = (from->first + from->tried++) % moves;
    FailureOr<std::optional<FrontierPoint>> point =
        points.at(withValue(from->point.choice, names[move / 2], move % 2 ? "replay" : "keep"));
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

static int64_t triesFor(ModuleOp module) {
  int64_t ops = 0;
  module.walk([&](Operation *) { ++ops; });
  return std::clamp(kOpsOfAllTries / ops, kLeastTries, kMostTries);
}

FailureOr<Frontier> braid::findFrontier(ModuleOp module, const DriverOptions &options, int64_t budget) {
  ScopedDiagnosticHandler errorsOnly(module.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  Frontier frontier;
  Points points(module, options);
  for (std::optional<ReplayWorth> price : sweep(machineOf(module)->compute.bytesPerSecond)) {
    FailureOr<std::optional<FrontierPoint>> point = points.at({price, ""});
    if (failed(point))
      return failure();
    if (*point)
      frontier.points.push_back(**point);
    // The arena fits without replays, and the user did not ask for their costs.
    if (!price && recomputesForLimit(options) && frontier.points.front().trial.arenaBytes <= budget) {
      frontier.chosen = 0;
      return frontier;
    }
  }
  int64_t units = numUnits(module);
  if (failed(spread(frontier, points, units)) || failed(refine(frontier, points, budget, units)))
    return failure();
  search(frontier, points, budget, namesOfValues(module), triesFor(module));
  frontier.chosen = fastestWithin(frontier.points, budget);
  return frontier;
}

const FrontierPoint &Frontier::smallest() const {
  return *llvm::min_element(points, [](const FrontierPoint &a, const FrontierPoint &b) {
    return std::pair(a.trial.arenaBytes, a.trial.seconds) < std::pair(b.trial.arenaBytes, b.trial.seconds);
  });
}

std::vector<ReplayReport> Frontier::report() const {
  std::vector<ReplayReport> reports;
  for (auto [at, point] : llvm::enumerate(points)) {
    const std::optional<ReplayWorth> &replays = point.choice.worth;
    std::optional<double> worth;
    if (replays && replays->bytesPerSecond < kNoReplays)
      worth = replays->bytesPerSecond;
    bool hasAllUnits = !worth || replays->units == ReplayWorth().units;
    SmallVector<StringRef> statements;
    StringRef(point.choice.statements).split(statements, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    reports.push_back({worth, hasAllUnits ? std::nullopt : std::optional(replays->units),
                       std::vector<std::string>(statements.begin(), statements.end()), point.trial.arenaBytes,
                       point.trial.activationBytes, point.trial.seconds, chosen == at});
  }
  return reports;
}
