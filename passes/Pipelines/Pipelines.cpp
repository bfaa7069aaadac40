//===- Pipelines.cpp - the passes, their order and its reasons ------------===//

#include "passes/Pipelines/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// From a graph to its training programs
//===----------------------------------------------------------------------===//

/// Sets the target, then adapts the model: the layout of its weights and its batch. Both change the types of
/// arguments. So they come before gradients and optimizer state, which take the type of their parameter.
void braid::buildPreparePipeline(OpPassManager &manager, const PreparePipelineOptions &options) {
  manager.addPass(createSetTargetPass(options.target));
  if (!options.machine.link.empty() || !options.machine.compute.empty())
    manager.addPass(createSetMachinePass(options.machine));
  OpPassManager &functions = manager.nest<func::FuncOp>();
  // Groups are stored while parameters have the dims that the model gives them.
  functions.addPass(createNoteGroupsPass());
  if (options.unfuse)
    functions.addPass(createUnfuseWeightsPass());
  functions.addPass(createTransposeWeightsPass());
  if (options.accumulate > 1) {
    RebatchPassOptions rebatch;
    rebatch.factor = options.accumulate;
    functions.addPass(createRebatchPass(rebatch));
  }
  // The element type of each op is chosen on the model, before there are gradients.
  if (options.mixedPrecision)
    functions.addPass(createMixedPrecisionPass());
  // The gradients of merged weights are then merged, too.
  if (options.mergeContractions)
    functions.addPass(createMergeContractionsPass());
}

/// The model is still one graph, in which a search sees each layer once. The annotations of its arguments carry over
/// to the programs that are made from it.
void braid::buildLayoutPipeline(OpPassManager &manager, const LayoutPipelineOptions &options) {
  AnnotatePassOptions mesh;
  mesh.layout = options.mesh;
  manager.addPass(createAnnotatePass(mesh));
  if (options.expertParallel)
    manager.addPass(createExpertParallelPass(options.experts));
  if (options.tensorParallel) {
    manager.addNestedPass<func::FuncOp>(createRepeatHeadsPass(options.heads));
    manager.addPass(createTensorParallelPass(options.tensor));
  }
  if (options.contextParallel)
    manager.addPass(createContextParallelPass(options.context));
}

/// Makes one graph for each entry point. Evaluation and generation are split off before differentiation saves any
/// values. Hooks on activations act in them too, so hook points come first.
void braid::buildProgramsPipeline(OpPassManager &manager, const ProgramsPipelineOptions &options) {
  if (options.hooks)
    manager.addNestedPass<func::FuncOp>(createMarkUnitsPass());
  manager.addPass(createMakeProgramsPass(options.programs));
}

/// Attaches the hooks in the options to the points of one phase.
static void attachHooks(OpPassManager &manager, const DifferentiatePipelineOptions &options, StringRef phase) {
  AttachHooksPassOptions attachments = options.attachments;
  attachments.function = "train";
  attachments.phase = phase.str();
  manager.addPass(createAttachHooksPass(attachments));
}

/// Appends the gradients of @train. With accumulation, split-loss first takes the divisor out of a mean, because a
/// mean of means is not the mean. Canonicalization comes before, so that nothing that folds away is differentiated. It
/// must not run between split-loss and the end of differentiation, because it would fold the count into the loss
/// again. Hooks on activations are differentiated. Hook points on gradients of parameters come last, at the gradients
/// of the whole step.
void braid::buildDifferentiatePipeline(OpPassManager &manager, const DifferentiatePipelineOptions &options) {
  if (options.hooks)
    attachHooks(manager, options, "forward");
  // Hooks may need all positions of a sequence.
  if (options.decode)
    manager.addPass(createMakeDecodePass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  if (options.accumulate || options.separateUpdate)
    manager.addPass(createSplitLossPass());
  DifferentiatePassOptions differentiate;
  differentiate.function = "train";
  manager.addPass(createDifferentiatePass(differentiate));
  if (options.mixedPrecision)
    manager.addNestedPass<func::FuncOp>(createGradientPrecisionPass(options.gradients));
  if (options.accumulate || options.separateUpdate) {
    AccumulatePassOptions accumulate;
    accumulate.separateUpdate = options.separateUpdate;
    manager.addPass(createAccumulatePass(accumulate));
  }
  if (options.hooks) {
    manager.addNestedPass<func::FuncOp>(createMarkGradientsPass());
    attachHooks(manager, options, "backward");
  }
}

/// Turns gradients into updates. Needs gradients by name (`tg.grad_of`), so no pass that merges results may run in
/// between. All hooks have been attached.
void braid::buildOptimizerPipeline(OpPassManager &manager, const OptimizerPipelineOptions &options) {
  manager.addPass(createRemoveHooksPass());
  manager.addNestedPass<func::FuncOp>(createApplyOptimizerPass(options.optimizer));
  // Runs while an update is one op and its parameter is f32, before working copies are made.
  if (options.states.type != "f32")
    manager.addNestedPass<func::FuncOp>(createStatePrecisionPass(options.states));
  // All programs and updates exist now, so each reader gets the working copy or the master.
  if (options.mixedPrecision)
    manager.addPass(createWorkingCopiesPass());
}

//===----------------------------------------------------------------------===//
// To the programs of ranks
//===----------------------------------------------------------------------===//

/// Annotates what each rank keeps: first by the layout, then by the strategy.
void braid::buildAnnotatePipeline(OpPassManager &manager, const AnnotatePipelineOptions &options) {
  AnnotatePassOptions mesh, layout;
  mesh.layout = options.mesh;
  if (!mesh.layout.empty())
    manager.addPass(createAnnotatePass(mesh));
  layout.layoutFile = options.layoutFile;
  if (options.dataParallel)
    layout.batchAxes = options.strategy.axes;
  if (!layout.layoutFile.empty())
    manager.addPass(createAnnotatePass(layout));
  if (options.dataParallel)
    manager.addPass(createDataParallelPass(options.strategy));
}

void braid::buildShardPipeline(OpPassManager &manager) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  functions.addPass(createPropagatePass());
  functions.addPass(createInsertReshardsPass());
  functions.addPass(createVerifyShardingsPass());
  manager.addPass(createPartitionPass());
  // From here on functions are programs of ranks.
  manager.addNestedPass<func::FuncOp>(createCommSimplifyPass());
  manager.addPass(createVerifyOrder());
}

/// Turns the global graph into the program of a rank, as the annotations say. Measures the noise scale where gradients
/// are first reduced.
void braid::buildPartitionPipeline(OpPassManager &manager, const PartitionPipelineOptions &options) {
  manager.addPass(createAgreePass());
  buildShardPipeline(manager);
  if (options.rootParallel) {
    manager.addPass(createRootParallelPass());
    manager.addPass(createVerifyOrder());
  }
  if (options.noiseScale)
    manager.addNestedPass<func::FuncOp>(createNoiseScalePass(options.noise));
  // Changes nothing if gradients are stored in the type in which they are sent.
  if (options.mixedPrecision && !options.rootParallel)
    manager.addNestedPass<func::FuncOp>(createReducePrecisionPass(options.reductions));
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
void braid::buildDecomposePipeline(OpPassManager &manager, const DecomposePipelineOptions &options) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  OpPassManager &functions = manager.nest<func::FuncOp>();
  if (options.rings)
    functions.addPass(createFormRingsPass());
  if (options.loss.rows > 0)
    functions.addPass(createChunkLossPass(options.loss));
  // Runs while biases and activations can still move with each chunk of their contraction.
  if (options.chunkContractions)
    functions.addPass(createChunkContractionsPass(options.chunks));
  if (options.attentionCalls)
    functions.addPass(createSelectAttentionPass(options.attention));
  // An op that becomes a kernel has no call for an epilogue.
  if (options.dotProducts)
    functions.addPass(createSelectDotProductsPass());
  if (options.epilogues)
    functions.addPass(createSelectEpiloguesPass());
  functions.addPass(createDecomposePass());
  functions.addPass(createVerifyPrimitivesPass());
  manager.addPass(createVerifyFactsPass());
}

/// Chooses the values that backward recomputes. Comes after decompose, so that each op has its own price and the
/// shapes of a rank. Comes before units are gathered, because replays read parameters gathered for backward. Replays
/// are checked while their original ops exist.
void braid::buildRecomputePipeline(OpPassManager &manager, const RecomputePipelineOptions &options) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  functions.addPass(createRecomputePass(options.recompute));
  functions.addPass(createVerifyReplaysPass());
  functions.addPass(createFinishReplaysPass());
  manager.addPass(createVerifyFactsPass());
}

/// Cuts programs into pipeline stages. Comes after recomputation, whose replays are ordinary ops of backward, and
/// while each op is small enough to belong to one stage.
void braid::buildStagesPipeline(OpPassManager &manager, const StagesPipelineOptions &options) {
  manager.addPass(createStagesPass(options.stages));
  manager.addPass(createVerifyFactsPass());
  // Checks the value form, where facts say what is sent.
  manager.addPass(createVerifyOrder());
}

/// Merges collectives of many tensors into fewer. The second gather of a unit is a recomputation, so no CSE may run
/// after this. Comes before kernels are formed, because ops between two gathers of a unit must not become one kernel.
void braid::buildCollectivesPipeline(OpPassManager &manager, const CollectivesPipelineOptions &options) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  if (options.gatherUnits)
    functions.addPass(createGatherUnitsPass(options.units));
  functions.addPass(createBucketPass(options.buckets));
  functions.addPass(createNameTensorsPass());
  // Decomposes whole units and buckets, so it comes after they are formed. The ops between messages become kernels,
  // and each message is overlapped separately.
  if (options.decompose)
    functions.addPass(createCommDecomposePass(options.messages));
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
void braid::buildActionsPipeline(OpPassManager &manager, const ActionsPipelineOptions &options) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  if (options.chunkSums)
    functions.addPass(createChunkSumsPass());
  functions.addPass(createSelectCallsPass());
  if (options.biasGradients)
    functions.addPass(createSelectBiasGradientsPass());
  if (options.addends)
    functions.addPass(createSelectAddendsPass());
  functions.addPass(createFormKernelsPass());
  functions.addPass(createFuseKernelsPass());
  if (options.fuseGathers)
    functions.addPass(createFuseGathersPass());
  if (options.recomputeOperands)
    functions.addPass(createRecomputeOperandsPass());
  if (options.earlyUpdates)
    manager.addPass(createEarlyUpdatesPass(options.updates));
  if (options.gatherKernels)
    manager.addPass(createGatherKernelsPass());
  manager.addPass(createFormPacksPass());
  if (options.ordersAttention)
    manager.addPass(createOrderAttentionPass(options.attention));
  manager.addNestedPass<func::FuncOp>(createVerifyLibrarySizesPass());
  manager.addPass(createVerifyValuesPass());
  manager.addPass(createVerifyFactsPass());
}

/// Reorders actions to lower the peak. Comes when no later pass makes or merges actions, and before communication is
/// scheduled, which keeps the order of computation.
void braid::buildOrderPipeline(OpPassManager &manager) {
  manager.addPass(createLowerPeakPass());
  manager.addPass(createVerifyValuesPass());
  manager.addPass(createVerifyFactsPass());
}

/// Offloads tensors to host memory. Comes when the positions of updates are final, because states with consecutive
/// updates are copied in groups. Comes before communication is scheduled, because copies are scheduled with it.
void braid::buildOffloadPipeline(OpPassManager &manager, const OffloadPipelineOptions &options) {
  if (options.offloadsState)
    manager.addPass(createOffloadStatePass(options.state));
  // Comes after the offload of states, because their fetches take time on the link, too.
  if (options.offloadsActivations)
    manager.addPass(createOffloadActivationsPass(options.activations));
  manager.addPass(createVerifyValuesPass());
  manager.addPass(createVerifyFactsPass());
}

/// Overlaps communication with computation. Costs are costs of kernels, so it comes after they are formed. Live ranges
/// follow from block order, so it comes before memory planning.
void braid::buildOverlapPipeline(OpPassManager &manager, const OverlapPipelineOptions &options) {
  if (options.fillsWaits) {
    FillWaitsPassOptions fill;
    fill.memoryLimit = options.overlap.memoryLimit;
    manager.addPass(createFillWaitsPass(fill));
  }
  manager.addPass(createOverlapPass(options.overlap));
  manager.addPass(createVerifyValuesPass());
  manager.addPass(createVerifyFactsPass());
}

//===----------------------------------------------------------------------===//
// To actions in memory
//===----------------------------------------------------------------------===//

/// Assigns memory to values. The planner reads live ranges from block order, so no later pass moves an action. Equal
/// kernels can be recognised only when their layouts are known, so outlining and batching come afterwards. The matmuls
/// that overlap collectives are known when no later pass adds or merges actions.
void braid::buildMemoryPipeline(OpPassManager &manager, const MemoryPipelineOptions &options) {
  manager.addPass(createPlanMemory(options.plan));
  if (options.padMatmuls)
    manager.addPass(createPadMatmulsPass());
  manager.addPass(createOutlineKernelsPass());
  if (options.shortRowLoops)
    manager.addPass(createShortenRowLoopsPass());
  manager.addPass(createBatchLaunchesPass());
  // The kernels that launches share, and the actions between them, are now known.
  if (options.streamStores)
    manager.addPass(createStreamStoresPass());
  // Sizes of matmuls are final after padding.
  if (options.splitMatmuls)
    manager.addPass(createSplitMatmulsPass());
  if (options.copyPanels)
    manager.addPass(createCopyPanelsPass());
  if (options.ranks)
    manager.addPass(createShareMultiprocessorsPass(options.share));
  manager.addPass(createVerifyPlan());
  manager.addPass(createVerifyMemoryPass());
  manager.addPass(createVerifyFactsPass());
  if (options.ranks)
    manager.addPass(createVerifyOrder());
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

template <typename Options>
static void registerPhase(StringRef name, StringRef description,
                          void (*build)(OpPassManager &manager, const Options &options)) {
  PassPipelineRegistration<Options>(name, description, build);
}

void braid::registerPipelines() {
  registerPhase("braid-prepare", "Sets the target, lays out weights, takes a microbatch", buildPreparePipeline);
  registerPhase("braid-layout", "Finds a layout for axes that nothing is said of", buildLayoutPipeline);
  registerPhase("braid-programs", "Makes the programs of a step from the model", buildProgramsPipeline);
  registerPhase("braid-differentiate", "Makes the gradients of @train", buildDifferentiatePipeline);
  registerPhase("braid-optimizer", "Makes updates of gradients", buildOptimizerPipeline);
  registerPhase("braid-annotate", "Says what each rank keeps", buildAnnotatePipeline);
  PassPipelineRegistration<>("comm-shard",
                             "Makes the program of a rank from a function with a few shardings: propagates them, "
                             "inserts reshards, partitions, simplifies and verifies",
                             buildShardPipeline);
  registerPhase("braid-partition", "Makes the programs of ranks", buildPartitionPipeline);
  registerPhase("braid-decompose", "Simplifies graphs for the last time and decomposes them", buildDecomposePipeline);
  registerPhase("braid-recompute", "Computes values of forward again in backward", buildRecomputePipeline);
  registerPhase("braid-stages", "Makes the programs of a pipeline's ranks", buildStagesPipeline);
  registerPhase("braid-collectives", "Makes collectives fewer, each of many tensors", buildCollectivesPipeline);
  registerPhase("braid-actions", "Makes kernels and library calls, on values", buildActionsPipeline);
  PassPipelineRegistration<>("braid-order", "Reorders actions where that lowers the peak of memory",
                             buildOrderPipeline);
  registerPhase("braid-offload", "Keeps state of the optimizer, and activations, in the host's memory",
                buildOffloadPipeline);
  registerPhase("braid-overlap", "Hides communication behind computation", buildOverlapPipeline);
  registerPhase("braid-memory", "Places every tensor in memory", buildMemoryPipeline);
}
