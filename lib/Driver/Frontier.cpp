//===- Frontier.cpp - bytes against time, by what backward computes again -===//

#include "lib/Driver/Frontier.h"
#include "dialects/Exec/Exec.h"
#include "lib/Cost/Cost.h"
#include "lib/Driver/Pipeline.h"
#include "lib/Memory/Size.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace braid;

/// Prices are powers of two of the bytes that the target moves in a second.  Where more than
/// these are moved for a byte that is saved, or fewer, nothing changes between two of them: an
/// activation is computed in the time of moving some bytes, a row's mean in that of moving the
/// row, at most some thousand.
static constexpr int kMostExponent = 4, kLeastExponent = -12;

//===----------------------------------------------------------------------===//
// One price
//===----------------------------------------------------------------------===//

/// By the schedule of ranks; of one rank, all that it does one after the other.
static double secondsOfStep(ModuleOp module, const Report &report, int64_t microbatches) {
  if (report.traffic.predictedSeconds)
    return *report.traffic.predictedSeconds;
  ComputeRates rates = ComputeRates::of(*targetOf(module));
  double seconds = 0;
  for (auto program : module.getOps<exec::ProgramOp>()) {
    int64_t times = program.getSymName() == "train" ? 1 : program.getSymName() == "accumulate" ? microbatches - 1 : 0;
    for (auto action : program.getOps<exec::ActionOpInterface>())
      seconds += times * rates.seconds(action);
  }
  return seconds;
}

static FrontierPoint measure(ModuleOp planned, const DriverOptions &options) {
  Report report = readReport(planned, targetOf(planned)->alignment, options.accumulate);
  int64_t activations = 0;
  for (const ProgramPlan &program : report.plan.programs)
    for (const CategoryBytes &held : program.byCategory)
      if (held.category == exec::Category::Activations)
        activations = std::max(activations, held.bytes);
  return {options.recompute == RecomputePolicy::None ? std::nullopt : std::optional(options.replayBytesPerSecond),
          report.plan.arenaBytes, activations, secondsOfStep(planned, report, options.accumulate)};
}

/// With the limit taken away: what exceeds it is a point, too.
static DriverOptions optionsAt(const DriverOptions &options, std::optional<double> bytesPerSecond) {
  DriverOptions at = options;
  at.emit = Emit::Memory;
  at.memoryLimit.clear();
  at.recompute = bytesPerSecond ? RecomputePolicy::Auto : RecomputePolicy::None;
  at.replayBytesPerSecond = bytesPerSecond.value_or(0);
  return at;
}

static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

static SmallVector<std::optional<double>> pricesOf(const TargetInfo &target) {
  SmallVector<std::optional<double>> prices{std::nullopt};
  for (int exponent = kMostExponent; exponent >= kLeastExponent; --exponent)
    prices.push_back(std::ldexp(ComputeRates::of(target).bytesPerSecond, exponent));
  prices.push_back(0.0);
  return prices;
}

FailureOr<Frontier> braid::findFrontier(ModuleOp module, const DriverOptions &options) {
  ScopedDiagnosticHandler errorsOnly(module.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  Frontier frontier;
  llvm::StringSet<> known;
  for (std::optional<double> price : pricesOf(*targetOf(module))) {
    DriverOptions at = optionsAt(options, price);
    PhaseClock untimed(/*verbose=*/false);
    Lowering lowering(at, untimed);
    OwningOpRef<ModuleOp> copy = module.clone();
    if (price && failed(lowering.runOn(*copy, "decompose", "recompute")))
      return failure();
    if (!known.insert(textOf(*copy)).second)
      continue;
    if (failed(lowering.runOn(*copy, price ? "recompute" : "decompose")))
      return failure();
    frontier.points.push_back(measure(*copy, at));
  }
  return frontier;
}

const FrontierPoint *Frontier::fastestWithin(int64_t bytes) const {
  const FrontierPoint *fastest = nullptr;
  for (const FrontierPoint &point : points) {
    auto key = [](const FrontierPoint &of) { return std::pair(of.seconds, of.arenaBytes); };
    if (point.arenaBytes <= bytes && (!fastest || key(point) < key(*fastest)))
      fastest = &point;
  }
  return fastest;
}

const FrontierPoint &Frontier::smallest() const {
  return *llvm::min_element(points, [](const FrontierPoint &a, const FrontierPoint &b) {
    return std::pair(a.arenaBytes, a.seconds) < std::pair(b.arenaBytes, b.seconds);
  });
}

void braid::printFrontier(llvm::raw_ostream &stream, const Frontier &frontier, const FrontierPoint &chosen) {
  stream << "\nrecomputation: bytes against predicted time\n";
  stream << llvm::formatv("  {0,12} {1,10} {2,12} {3,10} {4,8}\n", "a second is", "arena", "activations", "step",
                          "slower");
  double without = frontier.points.front().seconds;
  for (const FrontierPoint &point : frontier.points)
    stream << llvm::formatv("  {0,12} {1,10} {2,12} {3,10} {4,7:F1}%{5}\n",
                            point.bytesPerSecond ? formatSize(*point.bytesPerSecond) : "not replayed",
                            formatSize(point.arenaBytes), formatSize(point.activationBytes),
                            formatSeconds(point.seconds), 100 * (point.seconds / without - 1),
                            &point == &chosen ? "  <- chosen" : "");
}
