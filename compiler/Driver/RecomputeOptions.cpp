//===- RecomputeOptions.cpp - resolves --recompute ------------------------===//

#include "compiler/Driver/RecomputeOptions.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Report/Report.h"
#include "lib/Memory/Size.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace braid;
using llvm::Error;

bool braid::recomputesForLimit(const DriverOptions &options) {
  return !options.passes.plan.memoryLimit.empty() && !options.has("--recompute") && options.emit >= Emit::Memory &&
         !options.parallel.compare && !options.printPipeline;
}

Error braid::checkRecomputeOptions(const DriverOptions &options) {
  if (options.passes.recompute.policy != RecomputePolicy::Auto)
    return options.recomputeBudget.empty()
               ? Error::success()
               : makeError(
                     "--recompute-budget is the budget of --recompute=auto: add --recompute=auto, or leave it out");
  if (options.recomputeBudget.empty() && options.passes.plan.memoryLimit.empty())
    return makeError("--recompute=auto needs a budget for the arena: add --recompute-budget or --memory-limit, or "
                     "choose none, attention, selective or full");
  if (options.emit < Emit::Memory)
    return makeError("--recompute=auto needs memory plans, which --emit=tg, comm and exec do not make: choose none, "
                     "attention, selective or full");
  if (options.parallel.compare)
    return makeError("--compare with --recompute=auto: compare with none, attention, selective or full");
  if (options.printPipeline)
    return makeError("--print-pipeline with --recompute=auto, which plans before it chooses: print none, "
                     "attention, selective or full");
  return Error::success();
}

const std::string &braid::sizeOfBudget(const DriverOptions &options) {
  return options.recomputeBudget.empty() ? options.passes.plan.memoryLimit : options.recomputeBudget;
}

FailureOr<Frontier> braid::chooseReplays(ModuleOp module, const DriverOptions &options) {
  int64_t budget = *parseSize(sizeOfBudget(options));
  FailureOr<Frontier> frontier = findFrontier(module, options, budget);
  if (failed(frontier))
    return failure();
  const PlanCost &without = frontier->points.front().cost;
  const auto &[choice, cost] = frontier->best();
  if (!frontier->chosen)
    emitRemark(module.getLoc()) << "whatever backward recomputes, the arena needs at least "
                                << formatSize(cost.arenaBytes) << " (" << cost.arenaBytes
                                << " bytes): raise the limit, make the batch or its microbatches smaller "
                                   "(--accumulate), or shard the model over more ranks";
  else if (choice.worth)
    emitRemark(module.getLoc()) << "to keep the arena within " << formatSize(budget)
                                << ", backward recomputes values of forward: the predicted time of a step goes from "
                                << formatSeconds(without.seconds) << " to " << formatSeconds(cost.seconds)
                                << ", the arena from " << formatSize(without.arenaBytes) << " to "
                                << formatSize(cost.arenaBytes);
  return frontier;
}
