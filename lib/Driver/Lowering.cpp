//===- Lowering.cpp - a graph through the phases --------------------------===//

#include "lib/Driver/Lowering.h"
#include "lib/Memory/Size.h"
#include "lib/Target/TargetInfo.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace braid;

/// How often a schedule that misses the memory limit is made again.
static constexpr int kTries = 4;

LogicalResult PhaseClock::time(StringRef phase, llvm::function_ref<LogicalResult()> work) {
  auto start = std::chrono::steady_clock::now();
  LogicalResult result = work();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  auto known = llvm::find_if(phases, [&](const PhaseSeconds &other) { return other.phase == phase; });
  if (known == phases.end())
    phases.push_back({phase.str(), took.count()});
  else
    known->seconds += took.count();
  if (verbose)
    llvm::errs() << llvm::format("%-14s %7.2f s\n", phase.str().c_str(), took.count());
  return result;
}

/// What passes remark on the way to a rank's program (how an op was sharded, what a bucket
/// holds) is for those who ask for it.
LogicalResult Lowering::run(ModuleOp module, const Phase &phase) {
  std::optional<ScopedDiagnosticHandler> filter;
  if (!options.verbose && phase.isTalkative)
    filter.emplace(module.getContext(), [](Diagnostic &diagnostic) {
      return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
    });
  return clock.time(phase.name, [&] { return runPhase(module, phase); });
}

LogicalResult Lowering::run(ModuleOp module, ArrayRef<Phase> phases) {
  return success(llvm::all_of(phases, [&](const Phase &phase) { return succeeded(run(module, phase)); }));
}

/// Says what the limit cost.
void Lowering::remarkOnFit(ModuleOp module, int64_t limit, int64_t tried, int tries, const Traffic &first) {
  Traffic found = readTraffic(module, options.accumulate);
  InFlightDiagnostic remark = emitRemark(module.getLoc());
  remark << "to keep the memory limit of " << formatSize(limit) << ", communication is ";
  if (tried > 1)
    remark << "scheduled for " << formatSize(tried) << " of live bytes";
  else
    remark << "hidden only where that takes no memory";
  remark << " (try " << tries << ")";
  if (first.predictedSeconds && found.predictedSeconds)
    remark << "; the predicted step goes from " << formatSeconds(*first.predictedSeconds) << " to "
           << formatSeconds(*found.predictedSeconds) << ", of which exposed from "
           << formatSeconds(*first.exposedSeconds) << " to " << formatSeconds(*found.exposedSeconds);
}

/// Schedules and plans until the plan keeps the limit.  The live bytes that the schedule
/// counts are not those that placing them takes, so a small excess may ask for a larger
/// step; the last try hides nothing that costs memory.  When that fails too, the
/// planner says why.
LogicalResult Lowering::fit(OwningOpRef<ModuleOp> &module, int64_t limit) {
  int64_t alignment = targetOf(*module)->alignment, tried = limit, step = limit / 32, before = 0;
  Traffic first;
  for (int tries = 1;; ++tries) {
    DriverOptions attempt = options;
    attempt.memoryLimit = std::to_string(tried);
    OwningOpRef<ModuleOp> copy = module->clone();
    if (failed(run(*copy, overlapPhase(attempt))))
      return failure();
    // Planned without the limit, to know by how much it is missed; but the last time.
    attempt.memoryLimit = tries > kTries ? options.memoryLimit : "";
    if (failed(run(*copy, memoryPhase(attempt))))
      return failure();
    int64_t arena = readPlan(*copy, alignment).arenaBytes;
    if (arena <= limit) {
      if (tries > 1)
        remarkOnFit(*copy, limit, tried, tries, first);
      module = std::move(copy);
      return success();
    }
    if (tries == 1)
      first = readTraffic(*copy, options.accumulate);
    step = std::max(arena - limit, arena == before ? 2 * step : step);
    before = arena;
    tried = tries == kTries ? 1 : std::max<int64_t>(1, tried - step);
  }
}

LogicalResult Lowering::run(OwningOpRef<ModuleOp> &module) {
  std::vector<Phase> phases = buildPhases(options);
  std::optional<int64_t> limit = parseSize(options.memoryLimit);
  bool isSearched = limit && options.parallel.isParallel() && options.parallel.overlap != "none";
  if (!isSearched || options.emit < Emit::Memory)
    return run(*module, phases);
  return success(succeeded(run(*module, ArrayRef<Phase>(phases).drop_back(2))) && succeeded(fit(module, *limit)));
}
