//===- Pipeline.cpp - the phases that braidc runs -------------------------===//

#include "compiler/Driver/Pipeline.h"
#include "compiler/Driver/Hooks.h"
#include "compiler/Driver/LossChunks.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Driver/ParallelOptions.h"
#include "compiler/Driver/PrintIr.h"
#include "compiler/Driver/TargetOptions.h"
#include "dialects/Comm/Timing.h"
#include "dialects/Exec/Exec.h"
#include "mlir/IR/Verifier.h"
#include "passes/Pipelines/Pipelines.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <chrono>

using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// From a graph to its training programs
//===----------------------------------------------------------------------===//

/// Returns whether matmuls are merged. By default, merges on a GPU if ranks hold whole parameters and gradients. With
/// shards, the parts of merged gradients would be complete at the same time and need a copy before they are sent.
static bool mergesMatmuls(const DriverOptions &options) {
  const ParallelOptions &parallel = options.parallel;
  bool byDefault = targetOf(options).onDevice() && !parallel.shardsWeights() && !parallel.zero.value_or(0);
  return options.mergeMatmuls || byDefault;
}

static std::string meshStatement(const ParallelOptions &options) {
  auto axes =
      llvm::map_range(options.mesh, [](const MeshAxis &axis) { return axis.name + " = " + std::to_string(axis.size); });
  return "mesh " + llvm::join(axes, ", ");
}

static void prepare(PassList &passes, const DriverOptions &options) {
  PreparePipelineOptions pipeline;
  pipeline.accumulate = options.accumulate;
  pipeline.mixedPrecision = options.isMixed();
  pipeline.mergeContractions = mergesMatmuls(options);
  pipeline.unfuse = options.parallel.shardsWeights();
  buildPreparePipeline(passes, pipeline);
}

static void chooseLayout(PassList &passes, const DriverOptions &options) {
  const ParallelOptions &parallel = options.parallel;
  PassSettings &settings = passes.settings;
  LayoutPipelineOptions pipeline;
  pipeline.mesh = meshStatement(parallel);
  for (const AxisName &axis : kAxes)
    if (axis.set)
      axis.set(settings, parallel.along(axis.use));
  pipeline.tensorParallel = !parallel.along(AxisUse::Weights).empty();
  settings.heads.ranks = numRanks(parallel, {settings.tensor.axis});
  if (settings.tensor.sequence)
    settings.context.behindAxes = parallel.along(AxisUse::Weights);
  buildLayoutPipeline(passes, pipeline);
}

static void makePrograms(PassList &passes, const DriverOptions &options) {
  ProgramsPipelineOptions pipeline;
  pipeline.hooks = !options.hooks.empty();
  const std::string ofText[] = {"generate"};
  if (!options.sampling)
    passes.settings.programs.without = ofText;
  buildProgramsPipeline(passes, pipeline);
}

static void differentiate(PassList &passes, const DriverOptions &options) {
  DifferentiatePipelineOptions pipeline;
  pipeline.accumulate = options.accumulate > 1;
  pipeline.separateUpdate = options.parallel.hasStages();
  pipeline.mixedPrecision = options.isMixed();
  pipeline.decode = options.sampling;
  pipeline.hooks = !options.hooks.empty();
  std::vector<std::string> points, actions;
  for (StringRef text : options.hooks)
    if (std::optional<Hook> hook = splitHook(text)) {
      points.push_back(hook->point.str());
      actions.push_back(hook->action.str());
    }
  passes.settings.hooks.at = points;
  passes.settings.hooks.action = actions;
  buildDifferentiatePipeline(passes, pipeline);
}

static void applyOptimizer(PassList &passes, const DriverOptions &options) {
  OptimizerPipelineOptions pipeline;
  pipeline.mixedPrecision = options.isMixed();
  ApplyOptimizerPassOptions &optimizer = passes.settings.optimizer;
  optimizer.hyperparameters = options.optimizer.hyperparameters;
  optimizer.decayExclude = options.optimizer.decayExclude;
  optimizer.reportNorm = options.parallel.noiseScale;
  for (const MeshAxis &axis : options.parallel.mesh)
    passes.settings.moments.ranks = passes.settings.moments.ranks * axis.size;
  buildOptimizerPipeline(passes, pipeline);
}

//===----------------------------------------------------------------------===//
// To the programs of ranks
//===----------------------------------------------------------------------===//

/// Sets up the mesh from the layout.
static void annotate(PassList &passes, const DriverOptions &options) {
  const ParallelOptions &parallel = options.parallel;
  AnnotatePipelineOptions pipeline;
  if (!parallel.choosesLayout())
    pipeline.mesh = meshStatement(parallel);
  pipeline.layoutFile = parallel.layout;
  std::vector<std::string> axes = batchAxes(parallel), shard = shardAxes(parallel);
  pipeline.dataParallel = !axes.empty() || !parallel.along(AxisUse::Sequence).empty();
  DataParallelPassOptions &strategy = passes.settings.dataParallel;
  strategy.axes = axes;
  strategy.sequence = parallel.along(AxisUse::Sequence);
  strategy.shard = shard;
  strategy.zero = parallel.zero.value_or(0);
  buildAnnotatePipeline(passes, pipeline);
}

static void partition(PassList &passes, const DriverOptions &options) {
  PartitionPipelineOptions pipeline;
  pipeline.rootParallel = options.parallel.strategy.has_value();
  pipeline.noiseScale = options.parallel.noiseScale;
  passes.settings.noise.accumulate = options.accumulate;
  pipeline.mixedPrecision = options.isMixed();
  buildPartitionPipeline(passes, pipeline);
}

//===----------------------------------------------------------------------===//
// To primitives, actions and memory
//===----------------------------------------------------------------------===//

/// Returns whether any attention may be a call of the target's library.
static bool callsAttentionLibrary(const DriverOptions &options) {
  const PassSettings &settings = options.passes;
  bool hasLibrary =
      lookupTarget(settings.target.name, settings.target.arch, settings.target.card)->attention.maxHeadSize > 0;
  AttentionMethod method = settings.attention.method;
  return hasLibrary && (method == AttentionMethod::Auto || method == AttentionMethod::Library);
}

static void decompose(PassList &passes, const DriverOptions &options) {
  const ParallelOptions &parallel = options.parallel;
  DecomposePipelineOptions pipeline;
  pipeline.actions = options.emit >= Emit::Exec;
  pipeline.rings = !parallel.along(AxisUse::Sequence).empty();
  passes.settings.loss.rows = options.lossChunk.rows;
  passes.settings.loss.required = true;
  pipeline.chunkContractions = parallel.tpOverlap.has_value();
  ChunkContractionsPassOptions &chunks = passes.settings.chunks;
  chunks.axes = parallel.tensorAxes;
  chunks.chunks = parallel.tpOverlap.value_or(0);
  buildDecomposePipeline(passes, pipeline);
}

static void cutStages(PassList &passes, const DriverOptions &options) {
  StagesPassOptions &stages = passes.settings.stages;
  stages.axis = options.parallel.along(AxisUse::Stages).front();
  stages.microbatches = options.accumulate;
  stages.memoryLimit = options.passes.plan.memoryLimit;
  buildStagesPipeline(passes, OnlyPhaseOptions());
}

static void mergeCollectives(PassList &passes, const DriverOptions &options) {
  const ParallelOptions &parallel = options.parallel;
  CollectivesPipelineOptions pipeline;
  pipeline.gatherUnits = parallel.zero == 3;
  pipeline.decompose = parallel.decomposesCollectives();
  passes.settings.messages.algorithm = parallel.collectives;
  buildCollectivesPipeline(passes, pipeline);
}

static void formActions(PassList &passes, const DriverOptions &options) {
  ActionsPipelineOptions pipeline;
  // Hiding communication runs the updates of a bucket as soon as it is reduced.
  passes.settings.updates.reduced = options.parallel.overlap == Overlap::None;
  pipeline.ordersAttention = callsAttentionLibrary(options);
  passes.settings.attentionOrder.memoryLimit = options.passes.plan.memoryLimit;
  passes.settings.attentionOrder.rowAlignment = options.passes.plan.rowAlignment;
  buildActionsPipeline(passes, pipeline);
}

static void offload(PassList &passes, const DriverOptions &options) {
  OffloadPipelineOptions pipeline;
  pipeline.offloadsState = options.offloadsState();
  pipeline.offloadsActivations = options.offloadsActivations();
  buildOffloadPipeline(passes, pipeline);
}

static void hideCommunication(PassList &passes, const DriverOptions &options) {
  OverlapPassOptions &overlap = passes.settings.overlap;
  overlap.annotateOnly = options.parallel.overlap == Overlap::None;
  if (!overlap.annotateOnly) {
    overlap.memoryLimit = passes.settings.waits.memoryLimit = options.passes.plan.memoryLimit;
    overlap.rowAlignment = options.passes.plan.rowAlignment;
  }
  buildOverlapPipeline(passes, OnlyPhaseOptions());
}

static void planMemory(PassList &passes, const DriverOptions &options) {
  MemoryPipelineOptions pipeline;
  pipeline.ranks = options.parallel.isParallel();
  if (options.isTrial)
    passes.settings.plan.memoryLimit.clear();
  buildMemoryPipeline(passes, pipeline);
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

namespace {
/// A phase runs from a level of --emit on, if the options ask for it.
struct PhaseRow {
  Phase phase;
  StringRef name;
  Emit level;
  bool (*isAsked)(const DriverOptions &options);
  void (*build)(PassList &passes, const DriverOptions &options);
  /// Whether the remarks of the phase are details, which only -v shows.
  bool isTalkative = false;

  bool runs(const DriverOptions &options) const { return options.emit >= level && isAsked(options); }
};
} // namespace

static bool always(const DriverOptions &) { return true; }
static bool isParallel(const DriverOptions &options) { return options.parallel.isParallel(); }

/// Returns whether any value may be replayed. With several ranks, only the programs of a rank have replays.
static bool recomputes(const DriverOptions &options) {
  return options.recomputes() && (!isParallel(options) || options.emit >= Emit::Comm);
}

/// Adds the passes of a phase without options.
template <auto build> static void only(PassList &passes, const DriverOptions &) { build(passes, OnlyPhaseOptions()); }

/// In the order of Phase.
static constexpr PhaseRow kPhases[] = {
    {Phase::Prepare, "prepare", Emit::Tg, always, prepare},
    {Phase::Layout, "layout", Emit::Tg, [](auto &all) { return all.parallel.choosesLayout(); }, chooseLayout},
    {Phase::Programs, "programs", Emit::Tg, always, makePrograms},
    {Phase::Differentiate, "differentiate", Emit::Tg, always, differentiate},
    {Phase::Optimizer, "optimizer", Emit::Tg, always, applyOptimizer},
    {Phase::Annotate, "annotate", Emit::Tg, isParallel, annotate},
    {Phase::Partition, "partition", Emit::Comm, isParallel, partition, true},
    {Phase::Decompose, "decompose", Emit::Tg, always, decompose, true},
    {Phase::Recompute, "recompute", Emit::Tg, recomputes, only<buildRecomputePipeline>, true},
    {Phase::Stages, "stages", Emit::Comm, [](auto &all) { return all.parallel.hasStages(); }, cutStages, true},
    {Phase::Collectives, "collectives", Emit::Comm, isParallel, mergeCollectives, true},
    {Phase::Actions, "actions", Emit::Exec, always, formActions},
    {Phase::Order, "order", Emit::Exec, always, only<buildOrderPipeline>, true},
    {Phase::Offload, "offload", Emit::Exec, [](auto &all) { return all.offloads(); }, offload, true},
    {Phase::Overlap, "overlap", Emit::Exec, [](auto &all) { return isParallel(all) || all.offloads(); },
     hideCommunication, true},
    {Phase::Memory, "memory", Emit::Memory, always, planMemory},
};

llvm::Error braid::checkWithout(const DriverOptions &options) {
  for (StringRef name : options.without)
    if (std::string fault = reasonPassIsRequired(name); !fault.empty())
      return makeError("--without=" + name + ": " + fault);
  return llvm::Error::success();
}

std::vector<PassList::Entry> braid::printPipeline(raw_ostream &os, const DriverOptions &options) {
  OpPassManager manager(ModuleOp::getOperationName());
  std::vector<PassList::Entry> entries;
  for (const PhaseRow &row : kPhases) {
    PassList passes(manager, options.passes, options.without);
    if (row.runs(options))
      row.build(passes, options);
    llvm::append_range(entries, passes.getEntries());
  }
  manager.printAsTextualPipeline(os);
  return entries;
}

//===----------------------------------------------------------------------===//
// A graph through the phases
//===----------------------------------------------------------------------===//

namespace {
enum class Verified { Never, BehindPhase, BehindEachPass };
} // namespace

/// Returns when the IR of a phase is verified. Builds with assertions verify after each pass, as braid-opt does. In
/// other builds, trials skip verification, because the final plan is verified. Kernels have bodies, whose verification
/// takes longer than most passes.
static Verified verified(Phase phase, const DriverOptions &options) {
#ifdef NDEBUG
  if (options.isTrial)
    return Verified::Never;
  if (phase >= Phase::Actions && options.printIrAfter.empty())
    return Verified::BehindPhase;
#endif
  return Verified::BehindEachPass;
}

/// Runs a phase. Errors are reported on the ops. Drops remarks about details (how an op was sharded, what a bucket
/// holds) unless -v is given.
static LogicalResult runPhase(ModuleOp module, const PhaseRow &row, const DriverOptions &options) {
  std::optional<ScopedDiagnosticHandler> filter;
  if (!options.verbose && row.isTalkative)
    filter.emplace(module.getContext(), [](Diagnostic &diagnostic) {
      return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
    });
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  PassList passes(manager, options.passes, options.without);
  row.build(passes, options);
  printIrAfter(manager, options);
  Verified when = verified(row.phase, options);
  manager.enableVerifier(when == Verified::BehindEachPass);
  if (failed(manager.run(module)))
    return failure();
  return success(when != Verified::BehindPhase || succeeded(mlir::verify(module)));
}

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

/// Emits a remark with the predicted cost of the memory limit.
static void remarkOnLimit(ModuleOp module, const DriverOptions &options) {
  for (auto program : module.getOps<exec::ProgramOp>()) {
    auto found = comm::timingOf(program), without = comm::timingOf(program, comm::kTimingWithoutLimit);
    if (found && without)
      emitRemark(module.getLoc()) << "to keep the memory limit of " << options.passes.plan.memoryLimit
                                  << ", the predicted time of '" << program.getSymName() << "' goes from "
                                  << formatSeconds(without->predicted) << " to " << formatSeconds(found->predicted)
                                  << ", of which exposed communication from " << formatSeconds(without->exposed)
                                  << " to " << formatSeconds(found->exposed);
  }
}

LogicalResult braid::runPhases(ModuleOp module, const DriverOptions &options, Phase begin, std::optional<Phase> end,
                               PhaseClock *clock) {
  for (const PhaseRow &row : kPhases) {
    if (row.phase < begin || (end && row.phase >= *end) || !row.runs(options))
      continue;
    auto run = [&] { return runPhase(module, row, options); };
    if (failed(clock ? clock->time(row.name, run) : run()))
      return failure();
  }
  remarkOnLimit(module, options);
  return success();
}
