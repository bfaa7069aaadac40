//===- ReplaySets.cpp - the plan of each of many sets of replays ----------===//
//
// braid_replay_sets GRAPH.mlir < LINES
//
// A line has statements of tg-recompute, separated by `;`, which list all replays. For each line the program prints the
// bytes of the arena and the predicted seconds of a step, or `-` if a listed value must not be replayed. One process
// plans thousands of sets without a search, so exhaustive_replays.py can compare the search of --recompute=auto with
// them.
//
//===----------------------------------------------------------------------===//

#include "braid/InitAll.h"
#include "compiler/Driver/Frontier.h"
#include "compiler/Driver/Pipeline.h"
#include "compiler/Driver/ReadGraph.h"
#include "compiler/Driver/TargetOptions.h"
#include "compiler/Driver/Trial.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <cstdio>
#include <iostream>

using namespace mlir;
using namespace braid;

static LogicalResult planSets(ModuleOp module, DriverOptions options) {
  PhaseClock untimed(/*verbose=*/false);
  if (failed(Lowering(options, untimed).runThrough(module, "decompose")))
    return failure();
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  for (std::string line; std::getline(std::cin, line);) {
    useReplays(options, {ReplayWorth{kNoReplays}, line});
    FailureOr<Trial> trial = tryPlan(module, options, "decompose");
    if (failed(trial))
      std::puts("-");
    else
      std::printf("%lld %.17g\n", static_cast<long long>(trial->arenaBytes), trial->seconds);
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
