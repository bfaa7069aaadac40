//===- Driver.cpp - from a graph to a training binary ---------------------===//

#include "compiler/Driver/Driver.h"
#include "braid/InitAll.h"
#include "compiler/Driver/CheckGraph.h"
#include "compiler/Driver/CheckOptions.h"
#include "compiler/Driver/Compare.h"
#include "compiler/Driver/CompareMeshes.h"
#include "compiler/Driver/GraphFacts.h"
#include "compiler/Driver/Hooks.h"
#include "compiler/Driver/LowerGraph.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Driver/PlannedText.h"
#include "compiler/Driver/PrintIr.h"
#include "compiler/Driver/ReadGraph.h"
#include "compiler/Driver/RecomputeOptions.h"
#include "compiler/Driver/WriteOutput.h"
#include "dialects/TG/TrainingFacts.h"
#include "lib/Input/SourceDiagnostics.h"
#include "lib/Pipeline/Simulate.h"
#include "lib/Schedule/PipelineTable.h"
#include "lib/Target/TargetInfo.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace braid;

namespace {

class Driver {
public:
  Driver(const DriverOptions &options, const char *program) : options(options), program(program) {}
  LogicalResult run();

private:
  LogicalResult readInput();
  LogicalResult compare();
  template <typename Comparison> LogicalResult writeComparison(const Comparison &comparison);
  LogicalResult lower();

  DriverOptions options;
  const char *program;
  MLIRContext context{MLIRContext::Threading::DISABLED};
  llvm::SourceMgr sources;
  std::optional<SourceDiagnostics> handler;
  OwningOpRef<ModuleOp> module;
  PhaseClock clock{options.verbose};
  std::vector<ReplayReport> replays; // the choices of --recompute=auto
};

} // namespace

LogicalResult Driver::readInput() {
  DialectRegistry registry;
  registerAllDialects(registry);
  context.appendDialectRegistry(registry);

  auto file = llvm::MemoryBuffer::getFileOrSTDIN(options.input);
  if (!file)
    return reportError(makeError("cannot read '" + options.input + "': " + file.getError().message()));
  sources.AddNewSourceBuffer(std::move(*file), SMLoc());
  handler.emplace("braidc", sources, &context);
  context.printOpOnDiagnostic(false); // the source line is enough
  module = readGraph(sources, &context);
  return success(static_cast<bool>(module));
}

template <typename Comparison> LogicalResult Driver::writeComparison(const Comparison &comparison) {
  if (!options.report.empty() && options.report != "-")
    return reportError(writeTextFile(options.report, comparisonJson(comparison)));
  std::string table;
  llvm::raw_string_ostream os(table);
  printComparison(os, comparison);
  return reportError(writeTextFile("-", table));
}

LogicalResult Driver::compare() {
  if (isInMemory(*module))
    return reportError(makeError("--compare=" + StringRef(cli::wordOf(*options.parallel.compare)) +
                                 " needs a graph, but '" + options.input + "' is already planned"));
  if (failed(checkGraph(*module, options)))
    return failure();
  if (options.parallel.compare == Compared::Zero) {
    FailureOr<Comparison> comparison = compareStages(*module, options, clock);
    return failed(comparison) ? failure() : writeComparison(*comparison);
  }
  MeshComparison comparison = compareMeshes(*module, options, clock);
  if (failed(writeComparison(comparison)))
    return failure();
  if (!comparison.meshes.empty())
    return success();
  return reportError(
      makeError("--compare=mesh: none of the layouts of " + llvm::Twine(comparison.ranks) + " ranks is possible"));
}

/// Warns if a step of a pipeline has fewer microbatches than the pipeline has ranks, because ranks then wait most.
static LogicalResult warnOfIdleRanks(ModuleOp module) {
  FailureOr<std::optional<PipelineTable>> table = PipelineTable::of(module);
  if (failed(table) || !*table)
    return LogicalResult(table);
  const pipeline::Schedule &schedule = (*table)->getSchedule();
  const unsigned ranks = schedule.numRanks(), microbatches = schedule.numMicrobatches();
  if (microbatches >= ranks)
    return success();
  const std::vector<pipeline::StageTimes> alike(schedule.numStages());
  const double idle = pipeline::simulate(schedule, alike).bubble;
  llvm::WithColor::warning(llvm::errs(), "braidc") << llvm::formatv(
      "the ranks along pp are idle for {0:F0} % of a step, because it has fewer microbatches (--accumulate={1}) than "
      "consecutive stages ({2}): use --accumulate={2} or more, with a larger batch if necessary\n",
      100 * idle, microbatches, ranks);
  return success();
}

LogicalResult Driver::lower() {
  tg::TrainingFacts facts = factsOf(*module->getOps<func::FuncOp>().begin(), modelName(*module, options), options);
  if (recomputesForLimit(options))
    options.passes.recompute.policy = RecomputePolicy::Auto;
  if (failed(reportError(checkPrintedPasses(options))))
    return failure();
  FailureOr<std::vector<ReplayReport>> chosenFrom = lowerGraph(*module, options, clock);
  if (failed(chosenFrom))
    return failure();
  replays = std::move(*chosenFrom);
  facts.replays = replaysJson(replays);
  facts.attachTo(*module);
  return warnOfIdleRanks(*module);
}

LogicalResult Driver::run() {
  if (failed(reportError(checkOptions(options))) || failed(readInput()))
    return failure();

  if (options.parallel.compare)
    return compare();

  if (isInMemory(*module)) {
    if (failed(checkPlanned(*module, options)))
      return failure();
  } else if (tg::TrainingFacts::of(*module)) {
    if (failed(planActions(*module, options, clock)))
      return failure();
  } else {
    if (failed(checkGraph(*module, options)) || (!options.hooks.empty() && failed(checkHooks(*module, options))))
      return failure();
    if (listsHooks(options))
      return success();
    if (failed(lower()))
      return failure();
  }
  if (options.emit < Emit::Memory)
    return writeModule(*module, options);
  Report summary = readReport(*module, targetOf(*module)->alignment, options.accumulate);
  summary.replays = replays;
  summary.replaysJson = tg::TrainingFacts::of(*module)->replays;
  return writeOutput(*module, summary, options, clock, program);
}

static LogicalResult printPasses(DriverOptions options) {
  if (failed(reportError(resolveOptions(options))))
    return failure();
  printPipeline(llvm::outs(), options);
  llvm::outs() << "\n";
  return success();
}

int braid::runDriver(const DriverOptions &options, const char *program) {
  return failed(options.printPipeline ? printPasses(options) : Driver(options, program).run());
}
