//===- Pipelines.cpp - the passes, their order and its reasons ------------===//

#include "passes/Pipelines/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "runtime/cli/Reader.h"

using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// From a graph to its training programs
//===----------------------------------------------------------------------===//

/// Sets the target, then adapts the model: the layout of its weights and its batch. Both change the types of
/// arguments. So they come before gradients and optimizer state, which take the type of their parameter.
void braid::buildPreparePipeline(PassList &passes, const PreparePipelineOptions &options) {
  passes.add(createSetTargetPass(passes.settings.target));
  if (!passes.settings.machine.link.empty() || !passes.settings.machine.compute.empty())
    passes.add(createSetMachinePass(passes.settings.machine));
  // Groups are stored while parameters have the dims that the model gives them.
  passes.add(createNoteGroupsPass());
  if (options.unfuse)
    passes.add(createUnfuseWeightsPass());
  passes.addOptional(createTransposeWeightsPass());
  if (options.accumulate > 1) {
    RebatchPassOptions rebatch;
    rebatch.factor = options.accumulate;
    passes.add(createRebatchPass(rebatch));
  }
  // The element type of each op is chosen on the model, before there are gradients.
  if (options.mixedPrecision)
    passes.add(createMixedPrecisionPass());
  // The gradients of merged weights are then merged, too.
  passes.addOptional(createMergeContractionsPass(), options.mergeContractions);
}

/// The model is still one graph, in which a search sees each layer once. The annotations of its arguments carry over
/// to the programs that are made from it.
void braid::buildLayoutPipeline(PassList &passes, const LayoutPipelineOptions &options) {
  AnnotatePassOptions mesh;
  mesh.layout = options.mesh;
  passes.add(createAnnotatePass(mesh));
  if (!passes.settings.experts.axes.empty())
    passes.add(createExpertParallelPass(passes.settings.experts));
  if (options.tensorParallel) {
    passes.add(createRepeatHeadsPass(passes.settings.heads));
    passes.add(createTensorParallelPass(passes.settings.tensor));
  }
  if (!passes.settings.context.axes.empty())
    passes.add(createContextParallelPass(passes.settings.context));
}

/// Makes one graph for each entry point. Evaluation and generation are split off before differentiation saves any
/// values. Hooks on activations act in them too, so hook points come first.
void braid::buildProgramsPipeline(PassList &passes, const ProgramsPipelineOptions &options) {
  if (options.hooks)
    passes.add(createMarkUnitsPass());
  passes.add(createMakeProgramsPass(passes.settings.programs));
}

/// Attaches the hooks in the options to the points of one turn.
static void attachHooks(PassList &passes, const DifferentiatePipelineOptions &options, HookTurn turn) {
  AttachHooksPassOptions attachments = passes.settings.hooks;
  attachments.function = "train";
  attachments.phase = turn;
  passes.add(createAttachHooksPass(attachments));
}

/// Appends the gradients of @train. With accumulation, split-loss first takes the divisor out of a mean, because a
/// mean of means is not the mean. Canonicalization comes before, so that nothing that folds away is differentiated. It
/// must not run between split-loss and the end of differentiation, because it would fold the count into the loss
/// again. Hooks on activations are differentiated. Hook points on gradients of parameters come last, at the gradients
/// of the whole step.
void braid::buildDifferentiatePipeline(PassList &passes, const DifferentiatePipelineOptions &options) {
  if (options.hooks)
    attachHooks(passes, options, HookTurn::Forward);
  // Hooks may need all positions of a sequence.
  passes.addOptional(createMakeDecodePass(), options.decode);
  passes.add(createCanonicalizerPass());
  passes.add(createCSEPass());
  if (options.accumulate || options.separateUpdate)
    passes.add(createSplitLossPass());
  DifferentiatePassOptions differentiate;
  differentiate.function = "train";
  passes.add(createDifferentiatePass(differentiate));
  if (options.mixedPrecision)
    passes.add(createGradientPrecisionPass(passes.settings.gradients));
  if (options.accumulate || options.separateUpdate) {
    AccumulatePassOptions accumulate;
    accumulate.separateUpdate = options.separateUpdate;
    passes.add(createAccumulatePass(accumulate));
  }
  if (options.hooks) {
    passes.add(createMarkGradientsPass());
    attachHooks(passes, options, HookTurn::Backward);
  }
}

/// Turns gradients into updates. Needs gradients by name (`tg.grad_of`), so no pass that merges results may run in
/// between. All hooks have been attached.
void braid::buildOptimizerPipeline(PassList &passes, const OptimizerPipelineOptions &options) {
  passes.add(createRemoveHooksPass());
  passes.add(createApplyOptimizerPass(passes.settings.optimizer));
  // Runs while an update is one op and its parameter is f32, before working copies are made.
  if (passes.settings.moments.type != MomentType::F32)
    passes.add(createStatePrecisionPass(passes.settings.moments));
  // All programs and updates exist now, so each reader gets the working copy or the master.
  if (options.mixedPrecision)
    passes.add(createWorkingCopiesPass());
}

//===----------------------------------------------------------------------===//
// To the programs of ranks
//===----------------------------------------------------------------------===//

/// Annotates what each rank keeps: first by the layout, then by the strategy.
void braid::buildAnnotatePipeline(PassList &passes, const AnnotatePipelineOptions &options) {
  AnnotatePassOptions mesh, layout;
  mesh.layout = options.mesh;
  if (!mesh.layout.empty())
    passes.add(createAnnotatePass(mesh));
  layout.layoutFile = options.layoutFile;
  if (options.dataParallel)
    layout.batchAxes = passes.settings.dataParallel.axes;
  if (!layout.layoutFile.empty())
    passes.add(createAnnotatePass(layout));
  if (options.dataParallel)
    passes.add(createDataParallelPass(passes.settings.dataParallel));
}

void braid::buildShardPipeline(PassList &passes, const OnlyPhaseOptions &) {
  passes.add(createPropagatePass());
  passes.add(createInsertReshardsPass());
  passes.add(createVerifyShardingsPass());
  passes.add(createPartitionPass());
  // From here on functions are programs of ranks.
  passes.add(createCommSimplifyPass());
  passes.add(createVerifyOrder());
}

/// Turns the global graph into the program of a rank, as the annotations say. Measures the noise scale where gradients
/// are first reduced.
void braid::buildPartitionPipeline(PassList &passes, const PartitionPipelineOptions &options) {
  passes.add(createAgreePass());
  buildShardPipeline(passes, OnlyPhaseOptions());
  if (options.rootParallel) {
    passes.add(createRootParallelPass());
    passes.add(createVerifyOrder());
  }
  if (options.noiseScale)
    passes.add(createNoiseScalePass(passes.settings.noise));
  // Changes nothing if gradients are stored in the type in which they are sent.
  if (options.mixedPrecision && !options.rootParallel)
    passes.add(createReducePrecisionPass(passes.settings.reductions));
}

//===----------------------------------------------------------------------===//
// To primitives, and to actions on values
//===----------------------------------------------------------------------===//

/// Simplifies the graph a last time while composites are whole, then decomposes them. In between come the
/// passes that match composites with the shapes of a rank: attention, epilogues, the rows of a loss that are
/// computed together, and chunks of rows whose communication overlaps computation. Rings also come here, because
/// CSE merges the gathers that they are made of, and their blocks are as large as one call of a target takes.
/// No CSE may run after decompose: forward and backward share only the values that differentiation chose to
/// save, and merging more would keep more in memory.
void braid::buildDecomposePipeline(PassList &passes, const DecomposePipelineOptions &options) {
  passes.add(createCanonicalizerPass());
  passes.add(createCSEPass());
  if (options.rings)
    passes.add(createFormRingsPass());
  if (passes.settings.loss.rows > 0)
    passes.add(createChunkLossPass(passes.settings.loss));
  // Runs while biases and activations can still move with each chunk of their contraction.
  passes.settings.chunks.inOrder |= passes.isDisabled("comm-fill-waits");
  if (options.chunkContractions)
    passes.add(createChunkContractionsPass(passes.settings.chunks));
  const bool selectsAttention = options.actions && passes.settings.attention.method != AttentionMethod::Decompose;
  passes.addOptional(createSelectAttentionPass(passes.settings.attention), selectsAttention);
  // An op that becomes a kernel has no call for an epilogue.
  passes.addOptional(createSelectDotProductsPass(), options.actions);
  passes.addOptional(createSelectEpiloguesPass(), options.actions);
  passes.add(createDecomposePass());
  passes.add(createVerifyPrimitivesPass());
  passes.add(createVerifyFactsPass());
}

/// Chooses the values that backward recomputes. Comes after decompose, so that each op has its own price and the
/// shapes of a rank. Comes before units are gathered, because replays read parameters gathered for backward. Replays
/// are checked while their original ops exist.
void braid::buildRecomputePipeline(PassList &passes, const OnlyPhaseOptions &) {
  passes.add(createRecomputePass(passes.settings.recompute));
  passes.add(createVerifyReplaysPass());
  passes.add(createFinishReplaysPass());
  passes.add(createVerifyFactsPass());
}

/// Cuts programs into pipeline stages. Comes after recomputation, whose replays are ordinary ops of backward, and
/// while each op is small enough to belong to one stage.
void braid::buildStagesPipeline(PassList &passes, const OnlyPhaseOptions &) {
  passes.add(createStagesPass(passes.settings.stages));
  passes.add(createVerifyFactsPass());
  // Checks the value form, where facts say what is sent.
  passes.add(createVerifyOrder());
}

/// Merges collectives of many tensors into fewer. The second gather of a unit is a recomputation, so no CSE may run
/// after this. Comes before kernels are formed, because ops between two gathers of a unit must not become one kernel.
void braid::buildCollectivesPipeline(PassList &passes, const CollectivesPipelineOptions &options) {
  if (options.gatherUnits)
    passes.add(createGatherUnitsPass(passes.settings.units));
  passes.addOptional(createBucketPass(passes.settings.buckets));
  passes.add(createNameTensorsPass());
  // Decomposes whole units and buckets, so it comes after they are formed. The ops between messages become kernels,
  // and each message is overlapped separately.
  if (options.decompose)
    passes.add(createCommDecomposePass(passes.settings.messages));
}

/// Turns tensors into actions, in this order:
/// - library calls, because their ops must not be split into kernels;
/// - sums that these calls also compute, and tensors that they add to their results;
/// - a kernel for each remaining op, then merged kernels, which recompute operands and look up table rows;
/// - updates move up to their gradients, once both are actions;
/// - equal kernels, whose moves the first reader of a gradient limits, come together. This comes before
///   communication is scheduled, which keeps the order of computation.
/// Sums over many tensors are chunked while they are ops. Packs of parameters are chosen before any pass asks for
/// memory. The summation order of attention gradients follows from the memory of all this, and the sizes that
/// libraries must represent follow from that order.
void braid::buildActionsPipeline(PassList &passes, const ActionsPipelineOptions &options) {
  passes.addOptional(createChunkSumsPass());
  passes.add(createSelectCallsPass());
  passes.addOptional(createSelectBiasGradientsPass());
  passes.addOptional(createSelectAddendsPass());
  passes.add(createFormKernelsPass());
  passes.addOptional(createFuseKernelsPass());
  passes.addOptional(createFuseGathersPass());
  passes.addOptional(createRecomputeOperandsPass());
  passes.addOptional(createEarlyUpdatesPass(passes.settings.updates));
  passes.addOptional(createGatherKernelsPass());
  passes.addOptional(createFormPacksPass());
  if (options.ordersAttention)
    passes.add(createOrderAttentionPass(passes.settings.attentionOrder));
  passes.add(createVerifyLibrarySizesPass());
  passes.add(createVerifyValuesPass());
  passes.add(createVerifyFactsPass());
}

/// Reorders actions to lower the peak. Comes when no later pass makes or merges actions, and before communication is
/// scheduled, which keeps the order of computation.
void braid::buildOrderPipeline(PassList &passes, const OnlyPhaseOptions &) {
  passes.addOptional(createLowerPeakPass());
  passes.add(createVerifyValuesPass());
  passes.add(createVerifyFactsPass());
}

/// Offloads tensors to host memory. Comes when the positions of updates are final, because states with consecutive
/// updates are copied in groups. Comes before communication is scheduled, because copies are scheduled with it.
void braid::buildOffloadPipeline(PassList &passes, const OffloadPipelineOptions &options) {
  if (options.offloadsState)
    passes.add(createOffloadStatePass(passes.settings.state));
  // Comes after the offload of states, because their fetches take time on the link, too.
  if (options.offloadsActivations)
    passes.add(createOffloadActivationsPass(passes.settings.activations));
  passes.add(createVerifyValuesPass());
  passes.add(createVerifyFactsPass());
}

/// Overlaps communication with computation. Costs are costs of kernels, so it comes after they are formed. Live ranges
/// follow from block order, so it comes before memory planning.
void braid::buildOverlapPipeline(PassList &passes, const OnlyPhaseOptions &) {
  passes.addOptional(createFillWaitsPass(passes.settings.waits), !passes.settings.overlap.annotateOnly);
  passes.settings.overlap.earlyUpdates &= !passes.isDisabled("exec-early-updates");
  passes.add(createOverlapPass(passes.settings.overlap));
  passes.add(createVerifyValuesPass());
  passes.add(createVerifyFactsPass());
}

//===----------------------------------------------------------------------===//
// To actions in memory
//===----------------------------------------------------------------------===//

/// Assigns memory to values. The planner reads live ranges from block order, so no later pass moves an action. Equal
/// kernels can be recognised only when their layouts are known, so outlining and batching come afterwards. The matmuls
/// that overlap collectives are known when no later pass adds or merges actions.
void braid::buildMemoryPipeline(PassList &passes, const MemoryPipelineOptions &options) {
  passes.add(createPlanMemory(passes.settings.plan));
  passes.addOptional(createPadMatmulsPass());
  passes.add(createOutlineKernelsPass());
  passes.addOptional(createShortenRowLoopsPass(passes.settings.rowLoops));
  passes.addOptional(createBatchLaunchesPass());
  // The kernels that launches share, and the actions between them, are now known.
  passes.addOptional(createStreamStoresPass());
  // Sizes of matmuls are final after padding.
  passes.addOptional(createSplitMatmulsPass(passes.settings.matmuls));
  passes.addOptional(createCopyPanelsPass());
  passes.addOptional(createShareMultiprocessorsPass(passes.settings.share), options.ranks);
  passes.add(createVerifyPlan());
  passes.add(createVerifyMemoryPass());
  passes.add(createVerifyFactsPass());
  if (options.ranks)
    passes.add(createVerifyOrder());
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

/// Calls `visit` with the name, the description and the builder of each phase.
template <typename Visit> static void visitPhases(Visit visit) {
  visit("braid-prepare", "Sets the target, lays out weights and reduces the batch to a microbatch",
        buildPreparePipeline);
  visit("braid-layout", "Chooses a layout for mesh axes without annotations", buildLayoutPipeline);
  visit("braid-programs", "Makes the programs of a step from the model", buildProgramsPipeline);
  visit("braid-differentiate", "Appends the gradients of @train", buildDifferentiatePipeline);
  visit("braid-optimizer", "Turns gradients into updates of parameters", buildOptimizerPipeline);
  visit("braid-annotate", "Annotates the shardings of parameters, state and inputs", buildAnnotatePipeline);
  visit("comm-shard",
        "Makes the program of a rank from a function with some shardings: propagates the shardings, inserts reshards, "
        "partitions, simplifies and verifies",
        buildShardPipeline);
  visit("braid-partition", "Partitions the global graph into the programs of ranks", buildPartitionPipeline);
  visit("braid-decompose", "Simplifies graphs for the last time and decomposes composites into primitives",
        buildDecomposePipeline);
  visit("braid-recompute", "Recomputes values of forward in backward", buildRecomputePipeline);
  visit("braid-stages", "Cuts programs into the programs of pipeline stages", buildStagesPipeline);
  visit("braid-collectives", "Merges collectives of many tensors into buckets", buildCollectivesPipeline);
  visit("braid-actions", "Forms kernels and library calls on values", buildActionsPipeline);
  visit("braid-order", "Reorders actions to lower peak memory", buildOrderPipeline);
  visit("braid-offload", "Offloads optimizer state and activations to host memory", buildOffloadPipeline);
  visit("braid-overlap", "Hides communication behind computation", buildOverlapPipeline);
  visit("braid-memory", "Places every tensor in the arena", buildMemoryPipeline);
}

template <typename Options> using BuildPhase = void (*)(PassList &passes, const Options &options);

std::vector<PassList::Entry> braid::optionalPasses() {
  OpPassManager manager(ModuleOp::getOperationName());
  PassList passes(manager);
  visitPhases([&]<typename Options>(StringRef, StringRef, BuildPhase<Options> build) { build(passes, Options()); });
  std::vector<PassList::Entry> optional;
  llvm::copy_if(passes.getEntries(), std::back_inserter(optional), [](const auto &entry) { return entry.isOptional; });
  return optional;
}

std::string braid::reasonPassIsRequired(StringRef name) {
  const std::vector<PassList::Entry> optional = optionalPasses();
  if (llvm::any_of(optional, [&](const PassList::Entry &entry) { return entry.name == name; }))
    return "";
  if (const PassInfo *needed = PassInfo::lookup(name))
    return ("programs need the pass '" + name + "', which cannot be left out: " + needed->getPassDescription()).str();
  auto names = llvm::map_to_vector(optional, [](const auto &entry) -> std::string_view { return entry.name; });
  return cli::unknownText("pass", name, names);
}

template <typename Options>
static void registerPhase(StringRef name, StringRef description, BuildPhase<Options> build) {
  auto add = [build](OpPassManager &manager, StringRef text, function_ref<LogicalResult(const Twine &)> report) {
    Options options;
    if (failed(options.parseFromString(text)))
      return failure();
    for (StringRef left : options.without)
      if (std::string fault = reasonPassIsRequired(left); !fault.empty())
        return report("without=" + left + ": " + fault);
    PassList passes(manager, PassSettings(), *options.without);
    build(passes, options);
    return success();
  };
  registerPassPipeline(name, description, add,
                       [](function_ref<void(const mlir::detail::PassOptions &)> show) { show(Options()); });
}

void braid::registerPipelines() {
  visitPhases([]<typename Options>(StringRef name, StringRef description, BuildPhase<Options> build) {
    registerPhase(name, description, build);
  });
}
