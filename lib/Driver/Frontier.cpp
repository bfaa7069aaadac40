//===- Frontier.cpp - bytes against time, by what backward computes again -===//

#include "lib/Driver/Frontier.h"
#include "dialects/TG/Facts.h"
#include "lib/Cost/Cost.h"
#include "lib/Driver/Pipeline.h"
#include "lib/Driver/RecomputeOptions.h"
#include "lib/Schedule/Forward.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Recompute/Choices.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
using namespace braid;

/// Prices are powers of two of the bytes that the target moves in a second.  Where more than
/// these are moved for a byte that is saved, or fewer, nothing changes between two of them: an
/// activation is computed in the time of moving some bytes, a row's mean in that of moving the
/// row, at most some thousand.
static constexpr int kMostExponent = 4, kLeastExponent = -12;

/// Plans that are made to keep or replay single values.
static constexpr int kMostTries = 32;

//===----------------------------------------------------------------------===//
// One choice
//===----------------------------------------------------------------------===//

static DriverOptions optionsAt(const DriverOptions &options, const ReplayChoice &choice) {
  DriverOptions at = options;
  at.emit = Emit::Memory;
  at.recompute = choice.worth ? RecomputePolicy::Auto : RecomputePolicy::None;
  at.replays = choice;
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
  PhaseClock untimed(/*verbose=*/false);
  OwningOpRef<ModuleOp> copy = module.clone();
  StringRef behind = chosen.recomputes() ? "recompute" : "decompose";
  if (chosen.recomputes() && failed(Lowering(chosen, untimed).runOn(*copy, "decompose", "recompute")))
    return failure();
  if (!known.insert(textOf(*copy)).second)
    return std::optional<FrontierPoint>();
  FailureOr<Trial> trial = tryPlan(*copy, chosen, behind);
  if (failed(trial))
    return failure();
  return std::optional(FrontierPoint{choice, *trial});
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
  auto key = [&](size_t at) { return std::pair(points[at].trial.seconds, points[at].trial.arenaBytes); };
  for (size_t at = 0; at < points.size(); ++at)
    if (points[at].trial.arenaBytes <= bytes && (!fastest || key(at) < key(*fastest)))
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
  double finer = next->choice.worth->bytesPerSecond;
  const std::optional<ReplayWorth> &rest = (next - 1)->choice.worth;
  std::vector<FrontierPoint> between;
  for (int64_t least = 1, most = units; least < most;) {
    int64_t middle = (least + most) / 2;
    FailureOr<std::optional<FrontierPoint>> point =
        points.at({ReplayWorth{finer, middle, rest ? rest->bytesPerSecond : kNoReplays}, ""});
    if (failed(point))
      return failure();
    bool fits = *point && (*point)->trial.arenaBytes <= budget;
    if (*point)
      between.push_back(**point);
    (fits ? most : least) = fits ? middle : middle + 1;
  }
  llvm::stable_sort(between, [](const FrontierPoint &a, const FrontierPoint &b) {
    return a.choice.worth->units < b.choice.worth->units;
  });
  frontier.points.insert(next, between.begin(), between.end());
  return success();
}

/// Names of values that forward makes, in its order; equal units have the same.
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

/// Keeps or replays the values of one name more, as long as that is better: nearer to the budget,
/// then faster.  One price for all cannot fill a budget exactly, and cannot see where replays
/// themselves make the peak.
static void climb(Frontier &frontier, Points &points, int64_t budget, ArrayRef<std::string> names) {
  auto key = [&](const FrontierPoint &of) {
    const Trial &trial = of.trial;
    return std::tuple(std::max<int64_t>(trial.arenaBytes - budget, 0), trial.seconds, trial.arenaBytes);
  };
  std::optional<size_t> within = fastestWithin(frontier.points, budget);
  FrontierPoint best = within ? frontier.points[*within] : frontier.smallest();
  if (!best.choice.worth)
    return;
  // Not every value can be replayed.
  ScopedDiagnosticHandler quiet(points.getContext(), [](Diagnostic &) { return success(); });
  int tries = 0;
  for (bool isBetter = true; isBetter;) {
    isBetter = false;
    for (const std::string &name : names)
      for (StringRef what : {"keep", "replay"}) {
        if (++tries > kMostTries)
          return;
        ReplayChoice choice{best.choice.worth, "*/" + name + ": " + what.str() + "\n" + best.choice.statements};
        FailureOr<std::optional<FrontierPoint>> point = points.at(choice);
        if (failed(point) || !*point || key(**point) >= key(best))
          continue;
        best = **point;
        frontier.points.push_back(best);
        isBetter = true;
      }
  }
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
    if (!price && recomputesForLimit(options) && frontier.points.front().trial.arenaBytes <= budget)
      break;
  }
  if (failed(refine(frontier, points, budget, numUnits(module))))
    return failure();
  climb(frontier, points, budget, namesOfValues(module));
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
    if (replays)
      worth = replays->bytesPerSecond;
    bool hasAllUnits = !replays || replays->units == ReplayWorth().units;
    SmallVector<StringRef> statements;
    StringRef(point.choice.statements).split(statements, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    reports.push_back({worth, hasAllUnits ? std::nullopt : std::optional(replays->units),
                       std::vector<std::string>(statements.begin(), statements.end()), point.trial.arenaBytes,
                       point.trial.activationBytes, point.trial.seconds, chosen == at});
  }
  return reports;
}
