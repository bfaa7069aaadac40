//===- Pipeline.cpp - the phases that braidc runs -------------------------===//

#include "lib/Driver/Pipeline.h"
#include "dialects/Comm/Timing.h"
#include "dialects/Exec/Exec.h"
#include "lib/Driver/Hooks.h"
#include "lib/Driver/LossChunks.h"
#include "lib/Driver/ParallelOptions.h"
#include "lib/Driver/PrintIr.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/IR/Verifier.h"
#include "passes/Pipelines/Pipelines.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <chrono>

using namespace mlir;
using namespace braid;

/// Sets `option` if a value was given, and else keeps the pass's own default.
template <typename T, typename U> static void set(T &option, const std::optional<U> &given) {
  if (given)
    option = *given;
}
static void set(std::string &option, const std::string &given) {
  if (!given.empty())
    option = given;
}

//===----------------------------------------------------------------------===//
// From a graph to its training programs
//===----------------------------------------------------------------------===//

/// Returns whether matmuls are merged. By default, merges on a GPU if ranks hold whole parameters and gradients. With
/// shards, the parts of merged gradients would be complete at the same time and need a copy before they are sent.
static bool mergesMatmuls(const DriverOptions &options) {
  if (!options.mergeMatmuls.empty())
    return options.mergeMatmuls == "on";
  const ParallelOptions &parallel = options.parallel;
  return lookupTarget(options.target, options.gpu)->gpu && !parallel.shardsWeights() && !parallel.zero.value_or(0);
}

static std::string meshStatement(const ParallelOptions &options) {
  auto axes =
      llvm::map_range(options.mesh, [](const MeshAxis &axis) { return axis.name + " = " + std::to_string(axis.size); });
  return "mesh " + llvm::join(axes, ", ");
}

static void prepare(OpPassManager &manager, const DriverOptions &options) {
  PreparePipelineOptions pipeline;
  pipeline.target.name = options.target;
  pipeline.target.arch = options.gpu;
  pipeline.machine.link = options.parallel.link;
  pipeline.machine.compute = options.parallel.compute;
  pipeline.accumulate = options.accumulate;
  pipeline.mixedPrecision = options.precision.isMixed();
  pipeline.mergeContractions = mergesMatmuls(options);
  pipeline.unfuse = options.parallel.shardsWeights();
  buildPreparePipeline(manager, pipeline);
}

static void chooseLayout(OpPassManager &manager, const DriverOptions &options) {
  LayoutPipelineOptions pipeline;
  pipeline.mesh = meshStatement(options.parallel);
  pipeline.expertParallel = !options.parallel.expertAxes.empty();
  pipeline.experts.axes = options.parallel.expertAxes;
  pipeline.tensorParallel = options.parallel.searchesLayout;
  pipeline.heads.ranks = numRanks(options.parallel, {pipeline.tensor.axis});
  pipeline.tensor.sequence = options.parallel.sequenceParallel;
  pipeline.tensor.sequenceAxes = options.parallel.sequenceAxes;
  pipeline.contextParallel = !options.parallel.sequenceAxes.empty();
  pipeline.context.axes = options.parallel.sequenceAxes;
  const std::vector<std::string> headAxes(options.parallel.searchesLayout, pipeline.tensor.axis);
  pipeline.context.otherHeadAxes = headAxes;
  if (options.parallel.sequenceParallel)
    pipeline.context.behindAxes = headAxes;
  const std::vector<std::string> stageAxes(options.parallel.hasStages(), options.parallel.stageAxis);
  pipeline.context.stageAxes = stageAxes;
  pipeline.context.how = options.parallel.context;
  pipeline.context.order = options.parallel.contextOrder;
  buildLayoutPipeline(manager, pipeline);
}

static void makePrograms(OpPassManager &manager, const DriverOptions &options) {
  ProgramsPipelineOptions pipeline;
  pipeline.hooks = !options.hooks.empty();
  const std::string ofText[] = {"generate"};
  if (options.sampling == "off")
    pipeline.programs.without = ofText;
  buildProgramsPipeline(manager, pipeline);
}

static void differentiate(OpPassManager &manager, const DriverOptions &options) {
  DifferentiatePipelineOptions pipeline;
  pipeline.accumulate = options.accumulate > 1;
  pipeline.separateUpdate = options.parallel.hasStages();
  pipeline.mixedPrecision = options.precision.isMixed();
  set(pipeline.gradients.type, options.precision.gradients);
  pipeline.decode = options.kvCache != "off" && options.sampling != "off";
  pipeline.hooks = !options.hooks.empty();
  std::vector<std::string> points, actions;
  for (StringRef text : options.hooks)
    if (std::optional<Hook> hook = splitHook(text)) {
      points.push_back(hook->point.str());
      actions.push_back(hook->action.str());
    }
  pipeline.attachments.at = points;
  pipeline.attachments.action = actions;
  buildDifferentiatePipeline(manager, pipeline);
}

static void applyOptimizer(OpPassManager &manager, const DriverOptions &options) {
  OptimizerPipelineOptions pipeline;
  pipeline.mixedPrecision = options.precision.isMixed();
  const OptimizerOptions &optimizer = options.optimizer;
  pipeline.optimizer.optimizer = optimizer.name;
  pipeline.optimizer.hyperparameters = optimizer.hyperparameters;
  pipeline.optimizer.decayExclude = optimizer.decayExclude;
  pipeline.optimizer.clip = optimizer.clip;
  pipeline.optimizer.reportNorm = options.parallel.noiseScale;
  set(pipeline.states.type, options.precision.moments);
  for (const MeshAxis &axis : options.parallel.mesh)
    pipeline.states.ranks = pipeline.states.ranks * axis.size;
  buildOptimizerPipeline(manager, pipeline);
}

//===----------------------------------------------------------------------===//
// To the programs of ranks
//===----------------------------------------------------------------------===//

/// Sets up the mesh from the layout.
static void annotate(OpPassManager &manager, const DriverOptions &options) {
  const ParallelOptions &parallel = options.parallel;
  AnnotatePipelineOptions pipeline;
  if (!parallel.choosesLayout())
    pipeline.mesh = meshStatement(parallel);
  pipeline.layoutFile = parallel.layout;
  std::vector<std::string> axes = batchAxes(parallel), shard = shardAxes(parallel);
  pipeline.dataParallel = !axes.empty() || !parallel.sequenceAxes.empty();
  pipeline.strategy.axes = axes;
  pipeline.strategy.sequence = parallel.sequenceAxes;
  pipeline.strategy.shard = shard;
  set(pipeline.strategy.zero, parallel.zero);
  pipeline.strategy.keepUnreduced = parallel.unreducedAccumulators;
  buildAnnotatePipeline(manager, pipeline);
}

static void partition(OpPassManager &manager, const DriverOptions &options) {
  PartitionPipelineOptions pipeline;
  pipeline.rootParallel = !options.parallel.strategy.empty();
  pipeline.noiseScale = options.parallel.noiseScale;
  pipeline.noise.accumulate = options.accumulate;
  pipeline.mixedPrecision = options.precision.isMixed();
  set(pipeline.reductions.type, options.precision.reductions);
  buildPartitionPipeline(manager, pipeline);
}

//===----------------------------------------------------------------------===//
// To primitives, actions and memory
//===----------------------------------------------------------------------===//

/// Returns whether any attention may be a call of the target's library.
static bool callsAttentionLibrary(const DriverOptions &options) {
  bool hasLibrary = lookupTarget(options.target, options.gpu)->attention.maxHeadSize > 0;
  return hasLibrary && (options.attention == AttentionWay::Auto || options.attention == AttentionWay::Library);
}

/// Translates --tp-overlap into options of comm-chunk-contractions, which itself resolves auto.
static void chunkContractions(DecomposePipelineOptions &pipeline, const ParallelOptions &parallel) {
  pipeline.chunkContractions = !parallel.tpOverlap.empty();
  pipeline.chunks.axes = parallel.tensorAxes;
  pipeline.chunks.inOrder = parallel.overlap == "in-order";
  int64_t chunks = 0;
  if (!StringRef(parallel.tpOverlap).getAsInteger(10, chunks))
    pipeline.chunks.chunks = chunks;
}

static void decompose(OpPassManager &manager, const DriverOptions &options) {
  DecomposePipelineOptions pipeline;
  bool becomesActions = options.emit >= Emit::Exec;
  pipeline.rings = !options.parallel.sequenceAxes.empty();
  pipeline.attentionCalls = becomesActions && options.attention != AttentionWay::Decompose;
  pipeline.attention.way = options.attention;
  if (int64_t rows = rowsOfLossChunk(options)) {
    pipeline.loss.rows = rows;
    pipeline.loss.required = true;
  }
  chunkContractions(pipeline, options.parallel);
  pipeline.dotProducts = becomesActions && options.dotProducts != "library";
  pipeline.epilogues = becomesActions && options.epilogues != "none";
  buildDecomposePipeline(manager, pipeline);
}

static void recompute(OpPassManager &manager, const DriverOptions &options) {
  RecomputePipelineOptions pipeline;
  pipeline.recompute.policy = options.recompute;
  ReplayWorth worth = options.replays.worth.value_or(ReplayWorth());
  pipeline.recompute.bytesPerSecond = worth.bytesPerSecond;
  pipeline.recompute.units = worth.units;
  pipeline.recompute.restBytesPerSecond = worth.restBytesPerSecond;
  pipeline.recompute.choicesFile = options.recomputeFile;
  pipeline.recompute.choices = options.replays.statements;
  buildRecomputePipeline(manager, pipeline);
}

static void cutStages(OpPassManager &manager, const DriverOptions &options) {
  const ParallelOptions &parallel = options.parallel;
  StagesPipelineOptions pipeline;
  pipeline.stages.axis = parallel.stageAxis;
  set(pipeline.stages.schedule, parallel.schedule);
  if (parallel.chunks)
    pipeline.stages.chunks = *parallel.chunks;
  pipeline.stages.stages = parallel.stages;
  pipeline.stages.microbatches = options.accumulate;
  set(pipeline.stages.memoryLimit, options.memoryLimit);
  buildStagesPipeline(manager, pipeline);
}

static void mergeCollectives(OpPassManager &manager, const DriverOptions &options) {
  const ParallelOptions &parallel = options.parallel;
  CollectivesPipelineOptions pipeline;
  pipeline.gatherUnits = parallel.zero == 3;
  set(pipeline.units.reshardAfterForward, parallel.reshardAfterForward);
  set(pipeline.buckets.bucketMb, parallel.bucketMb);
  set(pipeline.buckets.firstBucketMb, parallel.firstBucketMb);
  pipeline.decompose = parallel.decomposesCollectives();
  set(pipeline.messages.algorithm, parallel.collectives);
  buildCollectivesPipeline(manager, pipeline);
}

static void formActions(OpPassManager &manager, const DriverOptions &options) {
  ActionsPipelineOptions pipeline;
  pipeline.addends = options.epilogues.empty() || options.epilogues == "full";
  pipeline.biasGradients = pipeline.addends || options.epilogues == "gradients";
  pipeline.earlyUpdates = options.update != "late";
  // Hiding communication runs the updates of a bucket as soon as it is reduced.
  pipeline.updates.reduced = options.parallel.overlap == "none";
  pipeline.ordersAttention = callsAttentionLibrary(options);
  pipeline.attention.order = options.attentionOrder;
  set(pipeline.attention.memoryLimit, options.memoryLimit);
  set(pipeline.attention.rowAlignment, options.rowAlignment);
  buildActionsPipeline(manager, pipeline);
}

static void orderActions(OpPassManager &manager, const DriverOptions &) { buildOrderPipeline(manager); }

static void offload(OpPassManager &manager, const DriverOptions &options) {
  OffloadPipelineOptions pipeline;
  pipeline.offloadsState = options.offloadsState();
  pipeline.offloadsActivations = options.offloadsActivations();
  pipeline.activations.all = options.offloadActivations == "all";
  buildOffloadPipeline(manager, pipeline);
}

static void hideCommunication(OpPassManager &manager, const DriverOptions &options) {
  const ParallelOptions &parallel = options.parallel;
  OverlapPipelineOptions pipeline;
  OverlapPassOptions &overlap = pipeline.overlap;
  overlap.annotateOnly = parallel.overlap == "none";
  overlap.earlyUpdates = options.update != "late";
  set(overlap.prefetch, parallel.prefetch);
  if (!overlap.annotateOnly) {
    set(overlap.memoryLimit, options.memoryLimit);
    set(overlap.rowAlignment, options.rowAlignment);
  }
  pipeline.fillsWaits = parallel.overlap.empty() || parallel.overlap == "full";
  buildOverlapPipeline(manager, pipeline);
}

static void planMemory(OpPassManager &manager, const DriverOptions &options) {
  MemoryPipelineOptions pipeline;
  pipeline.ranks = options.parallel.isParallel();
  pipeline.shortRowLoops = options.rowLoops != "full";
  pipeline.streamStores = options.stores != "cached";
  pipeline.copyPanels = options.panels != "library";
  if (!options.isTrial)
    set(pipeline.plan.memoryLimit, options.memoryLimit);
  set(pipeline.plan.rowAlignment, options.rowAlignment);
  set(pipeline.share.ctas, options.parallel.commCtas);
  buildMemoryPipeline(manager, pipeline);
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

/// Returns a phase with `options`, which must outlive it.
static Phase phase(StringRef name, void (*build)(OpPassManager &, const DriverOptions &), const DriverOptions &options,
                   bool isTalkative = false, bool hasKernels = false) {
  return {name.str(), [build, &options](OpPassManager &manager) { build(manager, options); }, isTalkative, hasKernels};
}

/// Returns a phase whose programs have kernels.
static Phase kernelPhase(StringRef name, void (*build)(OpPassManager &, const DriverOptions &),
                         const DriverOptions &options, bool isTalkative = false) {
  return phase(name, build, options, isTalkative, /*hasKernels=*/true);
}

/// Name of the phase.
static constexpr StringRef kDecompose = "decompose";

std::vector<Phase> braid::buildPhases(const DriverOptions &options) {
  std::vector<Phase> phases{phase("prepare", prepare, options)};
  if (options.parallel.choosesLayout())
    phases.push_back(phase("layout", chooseLayout, options));
  phases.push_back(phase("programs", makePrograms, options));
  phases.push_back(phase("differentiate", differentiate, options));
  phases.push_back(phase("optimizer", applyOptimizer, options));
  bool isParallel = options.parallel.isParallel();
  if (isParallel)
    phases.push_back(phase("annotate", annotate, options));
  if (isParallel && options.emit >= Emit::Comm)
    phases.push_back(phase("partition", partition, options, /*isTalkative=*/true));
  phases.push_back(phase(kDecompose, decompose, options, /*isTalkative=*/true));
  bool isOfRank = !isParallel || options.emit >= Emit::Comm;
  if (isOfRank && options.recomputes())
    phases.push_back(phase("recompute", recompute, options, /*isTalkative=*/true));
  if (options.parallel.hasStages() && options.emit >= Emit::Comm)
    phases.push_back(phase("stages", cutStages, options, /*isTalkative=*/true));
  if (isParallel && options.emit >= Emit::Comm)
    phases.push_back(phase("collectives", mergeCollectives, options, /*isTalkative=*/true));
  if (options.emit >= Emit::Exec)
    phases.push_back(kernelPhase("actions", formActions, options));
  if (options.emit >= Emit::Exec && options.order != "graph")
    phases.push_back(kernelPhase("order", orderActions, options, /*isTalkative=*/true));
  if (options.offloads() && options.emit >= Emit::Exec)
    phases.push_back(kernelPhase("offload", offload, options, /*isTalkative=*/true));
  if ((isParallel || options.offloads()) && options.emit >= Emit::Exec)
    phases.push_back(kernelPhase("overlap", hideCommunication, options, /*isTalkative=*/true));
  if (options.emit >= Emit::Memory)
    phases.push_back(kernelPhase("memory", planMemory, options));
  return phases;
}

std::string braid::lastPhaseWithComposites(const DriverOptions &options) {
  std::vector<Phase> phases = buildPhases(options);
  auto found = llvm::find_if(phases, [](const Phase &phase) { return phase.name == kDecompose; });
  return std::prev(found)->name;
}

void braid::printPipeline(raw_ostream &os, ArrayRef<Phase> phases) {
  OpPassManager manager(ModuleOp::getOperationName());
  for (const Phase &phase : phases)
    phase.build(manager);
  manager.printAsTextualPipeline(os);
}

//===----------------------------------------------------------------------===//
// A graph through the phases
//===----------------------------------------------------------------------===//

namespace {
enum class Verified { Never, BehindPhase, BehindEachPass };
} // namespace

/// Returns when the IR of a phase is verified. Builds with assertions verify after each pass, as braid-opt does. In
/// other builds, trials skip verification, because the final plan is verified.
static Verified verified(const Phase &phase, const DriverOptions &options) {
#ifdef NDEBUG
  if (options.isTrial)
    return Verified::Never;
  if (phase.hasKernels && options.printIrAfter.empty())
    return Verified::BehindPhase;
#endif
  return Verified::BehindEachPass;
}

/// Runs a phase. Errors are reported on the ops.
static LogicalResult runPhase(ModuleOp module, const Phase &phase, const DriverOptions &options) {
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  phase.build(manager);
  printIrAfter(manager, options);
  Verified when = verified(phase, options);
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

/// Runs a phase. Drops remarks about details (how an op was sharded, what a bucket holds) unless -v is given.
LogicalResult Lowering::run(ModuleOp module, const Phase &phase) {
  std::optional<ScopedDiagnosticHandler> filter;
  if (!options.verbose && phase.isTalkative)
    filter.emplace(module.getContext(), [](Diagnostic &diagnostic) {
      return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
    });
  return clock.time(phase.name, [&] { return runPhase(module, phase, options); });
}

LogicalResult Lowering::run(ModuleOp module, ArrayRef<Phase> phases) {
  return success(llvm::all_of(phases, [&](const Phase &phase) { return succeeded(run(module, phase)); }));
}

/// Emits a remark with the predicted cost of the memory limit.
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

LogicalResult Lowering::run(ModuleOp module) { return runOn(module, ""); }

LogicalResult Lowering::runOn(ModuleOp module, StringRef behind, StringRef last) {
  std::vector<Phase> phases = buildPhases(options);
  auto behindPhase = [&](StringRef name, size_t otherwise) -> size_t {
    auto found = llvm::find_if(phases, [&](const Phase &phase) { return phase.name == name; });
    return found == phases.end() ? otherwise : found - phases.begin() + 1;
  };
  size_t begin = behindPhase(behind, 0), end = behindPhase(last, phases.size());
  if (failed(run(module, llvm::ArrayRef(phases).slice(begin, end - begin))))
    return failure();
  remarkOnLimit(module);
  return success();
}
