//===- Lowering.cpp - a graph through the phases --------------------------===//

#include "lib/Driver/Lowering.h"
#include "dialects/Comm/Timing.h"
#include "dialects/Exec/Exec.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace braid;

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
void Lowering::remarkOnLimit(ModuleOp module) {
  for (auto program : module.getOps<exec::ProgramOp>()) {
    auto found = comm::timingOf(program), without = comm::timingOf(program, comm::kTimingWithoutLimit);
    if (found && without)
      emitRemark(module.getLoc()) << "to keep the memory limit of " << options.memoryLimit
                                  << ", the predicted time of '" << program.getSymName() << "' goes from "
                                  << formatSeconds(without->predicted) << " to " << formatSeconds(found->predicted)
                                  << ", of which exposed communication from " << formatSeconds(without->exposed)
                                  << " to " << formatSeconds(found->exposed);
  }
}

LogicalResult Lowering::run(ModuleOp module) {
  if (failed(run(module, buildPhases(options))))
    return failure();
  remarkOnLimit(module);
  return success();
}

LogicalResult Lowering::runThrough(ModuleOp module, StringRef last) {
  std::vector<Phase> phases = buildPhases(options);
  auto end = llvm::find_if(phases, [&](const Phase &phase) { return phase.name == last; });
  return run(module, llvm::ArrayRef(phases).take_front(end - phases.begin() + 1));
}
