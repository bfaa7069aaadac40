//===- ReplaySets.cpp - the plan of each of many sets of replays ----------===//
//
// braid_replay_sets GRAPH.mlir < LINES
//
// A line names all values to replay, each as UNIT/VALUE. For each line the program prints the bytes of the arena and
// the predicted seconds of a step, or `-` if a listed value must not be replayed. One process plans thousands of sets
// without a search, so exhaustive_replays.py can compare the search of --recompute=auto with them.
//
//===----------------------------------------------------------------------===//

#include "braid/InitAll.h"
#include "compiler/Driver/Frontier.h"
#include "compiler/Driver/ReadGraph.h"
#include "compiler/Driver/TargetOptions.h"
#include "dialects/TG/Replays.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <cstdio>
#include <iostream>

using namespace mlir;
using namespace braid;

/// Marks the forward values of the program that trains: those that `line` names are replayed.
static void markValues(ModuleOp module, llvm::StringRef line) {
  llvm::SmallVector<llvm::StringRef> names;
  line.split(names, ' ');
  ForwardValues values(module.lookupSymbol<func::FuncOp>("train"));
  for (Operation *op : values.getOps())
    if (std::string name = nameOfForward(op); llvm::is_contained(names, name))
      op->setAttr(tg::kKept, BoolAttr::get(module.getContext(), false));
}

static LogicalResult planSets(ModuleOp module, DriverOptions options) {
  if (failed(runPhases(module, options, Phase::Prepare, Phase::Recompute)))
    return failure();
  applyReplayChoice(options, module, {ReplayThreshold{kNoReplays}, {}});
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  for (std::string line; std::getline(std::cin, line);) {
    OwningOpRef<ModuleOp> copy = module.clone();
    markValues(*copy, line);
    FailureOr<PlanCost> cost = planTrial(*copy, optionsOfTrial(options), Phase::Recompute);
    if (failed(cost))
      std::puts("-");
    else
      std::printf("%lld %.17g\n", static_cast<long long>(cost->arenaBytes), cost->seconds);
  }
  return success();
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fputs("usage: braid_replay_sets GRAPH.mlir < LINES\n", stderr);
    return 2;
  }
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources;
  auto file = llvm::MemoryBuffer::getFile(argv[1]);
  if (!file) {
    std::fprintf(stderr, "cannot read '%s': %s\n", argv[1], file.getError().message().c_str());
    return 1;
  }
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  DriverOptions options;
  options.input = argv[1];
  options.emit = Emit::Memory;
  OwningOpRef<ModuleOp> module = readGraph(sources, &context);
  if (!module || resolveTarget(options) || failed(planSets(*module, options)))
    return 1;
  return 0;
}
