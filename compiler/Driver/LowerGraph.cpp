//===- LowerGraph.cpp - lowers a graph to the level of --emit -------------===//

#include "compiler/Driver/LowerGraph.h"
#include "compiler/Driver/LossChunks.h"
#include "compiler/Driver/RecomputeOptions.h"

using namespace mlir;
using namespace braid;

LogicalResult braid::lowerGraph(ModuleOp module, DriverOptions &options, PhaseClock &clock,
                                std::vector<ReplayReport> &replays) {
  std::string done;
  if (choosesLossChunk(options)) {
    done = lastPhaseWithComposites(options);
    if (failed(Lowering(options, clock).runThrough(module, done)) ||
        failed(clock.time("loss chunks", [&] { return chooseLossChunk(module, options, done); })))
      return failure();
  }
  if (options.passes.recompute.policy == RecomputePolicy::Auto) {
    auto choose = [&] {
      FailureOr<Frontier> frontier = chooseReplays(module, options);
      if (failed(frontier))
        return failure();
      replays = frontier->report();
      return success();
    };
    if (failed(Lowering(options, clock).runOn(module, done, "decompose")) || failed(clock.time("frontier", choose)))
      return failure();
    done = "decompose";
  }
  return Lowering(options, clock).runOn(module, done);
}
