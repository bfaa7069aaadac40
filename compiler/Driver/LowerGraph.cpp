//===- LowerGraph.cpp - lowers a graph to the level of --emit -------------===//

#include "compiler/Driver/LowerGraph.h"
#include "compiler/Driver/LossChunks.h"
#include "compiler/Driver/RecomputeOptions.h"

using namespace mlir;
using namespace braid;

FailureOr<std::vector<ReplayReport>> braid::lowerGraph(ModuleOp module, DriverOptions options, PhaseClock &clock) {
  Phase next = Phase::Prepare;
  auto lowerTo = [&](Phase end) { return runPhases(module, options, std::exchange(next, end), end, &clock); };
  if (choosesLossChunk(options)) {
    FailureOr<LossChunk> chunk = failure();
    if (failed(lowerTo(Phase::Decompose)) ||
        failed(clock.time("loss chunks", [&] { return chunk = chooseLossChunk(module, options); })))
      return failure();
    options.lossChunk = *chunk;
  }
  std::vector<ReplayReport> replays;
  if (options.passes.recompute.policy == RecomputePolicy::Auto) {
    FailureOr<Frontier> frontier = failure();
    if (failed(lowerTo(Phase::Recompute)) ||
        failed(clock.time("frontier", [&] { return frontier = chooseReplays(module, options); })))
      return failure();
    replays = frontier->report();
    applyReplayChoice(options, module, frontier->best().choice);
    if (!frontier->chosen) // the planner refuses it, and reports the largest values
      options.passes.plan.memoryLimit = sizeOfBudget(options);
  }
  if (failed(runPhases(module, options, next, {}, &clock)))
    return failure();
  return replays;
}
