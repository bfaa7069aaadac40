//===- Pipelines.cpp - which passes run, and why in this order ------------===//

#include "passes/Pipelines/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// From a graph to its training programs
//===----------------------------------------------------------------------===//

/// The target, then the model on its own terms: the layout of its weights and its batch.
/// Both change the types of arguments, so they come before anything is derived from
/// them: gradients and optimizer state take the type of their parameter.
void braid::buildPreparePipeline(OpPassManager &manager, const PreparePipelineOptions &options) {
  manager.addPass(createSetTargetPass(options.target));
  if (!options.machine.link.empty() || !options.machine.compute.empty())
    manager.addPass(createSetMachinePass(options.machine));
  OpPassManager &functions = manager.nest<func::FuncOp>();
  // While parameters have the dims that the model gives them.
  functions.addPass(createNoteGroupsPass());
  if (options.unfuse)
    functions.addPass(createUnfuseWeightsPass());
  functions.addPass(createTransposeWeightsPass());
  if (options.accumulate > 1) {
    RebatchPassOptions rebatch;
    rebatch.factor = options.accumulate;
    functions.addPass(createRebatchPass(rebatch));
  }
  // What runs in which type is said of the model, before there are gradients.
  if (options.mixedPrecision)
    functions.addPass(createMixedPrecisionPass());
  // Their gradients then come merged, too.
  if (options.mergeContractions)
    functions.addPass(createMergeContractionsPass());
}

/// A model is one graph still, in which a search sees each layer once; what is said of its
/// arguments holds for the programs that are made of it.
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

/// One graph for each entry point.  Evaluation and generation leave the model
/// before differentiation asks for anything to be saved; what hooks do to activations
/// they do, too, so the points come first.
void braid::buildProgramsPipeline(OpPassManager &manager, const ProgramsPipelineOptions &options) {
  if (options.hooks)
    manager.addNestedPass<func::FuncOp>(createMarkUnitsPass());
  manager.addPass(createMakeProgramsPass(options.programs));
}

/// Attaches what the options say to the points of one phase.
static void attachHooks(OpPassManager &manager, const DifferentiatePipelineOptions &options, StringRef phase) {
  AttachHooksPassOptions attachments = options.attachments;
  attachments.function = "train";
  attachments.phase = phase.str();
  manager.addPass(createAttachHooksPass(attachments));
}

/// The gradients of @train.  With accumulation the divisor of a mean is taken out
/// first, because a mean of means is not the mean.  Canonicalization comes before,
/// so that nothing that folds away is differentiated, and never between split-loss
/// and differentiation's end: it would fold the count into the loss again.
/// What hooks do to activations is differentiated.  Gradients of parameters get their
/// points last, where they are those of the step.
void braid::buildDifferentiatePipeline(OpPassManager &manager, const DifferentiatePipelineOptions &options) {
  if (options.hooks)
    attachHooks(manager, options, "forward");
  // What hooks do may need all positions of a sequence.
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

/// Gradients become updates.  Needs gradients by name (`tg.grad_of`), so nothing
/// that merges results may run in between.  All that is attached to hooks is in place.
void braid::buildOptimizerPipeline(OpPassManager &manager, const OptimizerPipelineOptions &options) {
  manager.addPass(createRemoveHooksPass());
  manager.addNestedPass<func::FuncOp>(createApplyOptimizerPass(options.optimizer));
  // While an update is one op and its parameter is f32, before working copies are made.
  if (options.states.type != "f32")
    manager.addNestedPass<func::FuncOp>(createStatePrecisionPass(options.states));
  // All programs are there, and so are updates: what is left to say is who reads which.
  if (options.mixedPrecision)
    manager.addPass(createWorkingCopiesPass());
}

//===----------------------------------------------------------------------===//
// To the programs of ranks
//===----------------------------------------------------------------------===//

/// What each rank keeps, as annotations: those of the layout, then what the strategy
/// adds.
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

/// From the graph of everything to the program of a rank, which follows from the
/// annotations.  The noise scale is measured where gradients are first reduced.
void braid::buildPartitionPipeline(OpPassManager &manager, const PartitionPipelineOptions &options) {
  manager.addPass(createAgreePass());
  buildShardPipeline(manager);
  if (options.rootParallel) {
    manager.addPass(createRootParallelPass());
    manager.addPass(createVerifyOrder());
  }
  if (options.noiseScale)
    manager.addNestedPass<func::FuncOp>(createNoiseScalePass(options.noise));
  // Where gradients are stored in the type that they are sent in, this changes nothing.
  if (options.mixedPrecision && !options.rootParallel)
    manager.addNestedPass<func::FuncOp>(createReducePrecisionPass(options.reductions));
}

//===----------------------------------------------------------------------===//
// To primitives, and to actions on values
//===----------------------------------------------------------------------===//

/// The last simplification of the graph, while composites are whole; then their
/// definitions.  Attention and epilogues are selected between, because they match
/// what is still one op, and have the shapes of a rank; so are the rows of a loss that are
/// computed together, and chunks of rows that are communicated while others are computed.  No CSE may run after
/// decompose: forward and backward share only what differentiation chose to save,
/// and merging more would keep it in memory.  So are rings, which are made of gathers that CSE has made one, and
/// whose blocks are as large as what targets take in one call.
void braid::buildDecomposePipeline(OpPassManager &manager, const DecomposePipelineOptions &options) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  OpPassManager &functions = manager.nest<func::FuncOp>();
  if (options.rings)
    functions.addPass(createFormRingsPass());
  if (options.loss.rows > 0)
    functions.addPass(createChunkLossPass(options.loss));
  // While biases and activations can still go along with each chunk of their contraction.
  if (options.chunkContractions)
    functions.addPass(createChunkContractionsPass(options.chunks));
  if (options.attentionCalls)
    functions.addPass(createSelectAttentionPass(options.attention));
  // What becomes a kernel has no call to take an epilogue.
  if (options.dotProducts)
    functions.addPass(createSelectDotProductsPass());
  if (options.epilogues)
    functions.addPass(createSelectEpiloguesPass());
  functions.addPass(createDecomposePass());
  functions.addPass(createVerifyPrimitivesPass());
  manager.addPass(createVerifyFactsPass());
}

/// What backward computes again instead of reading it.  After decompose, so that each op has
/// its own price, and on the shapes of a rank.  Before units are gathered, because replays read
/// what is gathered for backward.  Copies are checked while the ops that they repeat are there.
void braid::buildRecomputePipeline(OpPassManager &manager, const RecomputePipelineOptions &options) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  functions.addPass(createRecomputePass(options.recompute));
  functions.addPass(createVerifyReplaysPass());
  functions.addPass(createFinishReplaysPass());
  manager.addPass(createVerifyFactsPass());
}

/// Behind recomputation, whose replays are ops of backward like others, and while ops are so small
/// that each is of one stage.
void braid::buildStagesPipeline(OpPassManager &manager, const StagesPipelineOptions &options) {
  manager.addPass(createStagesPass(options.stages));
  manager.addPass(createVerifyFactsPass());
  // On values, where facts say what is sent.
  manager.addPass(createVerifyOrder());
}

/// Fewer collectives, each of many tensors.  A unit that is gathered again is a
/// recomputation, so no CSE may run after this.  Before kernels are formed, because
/// what stands between two gathers of a unit must not become one kernel.
void braid::buildCollectivesPipeline(OpPassManager &manager, const CollectivesPipelineOptions &options) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  if (options.gatherUnits)
    functions.addPass(createGatherUnitsPass(options.units));
  functions.addPass(createBucketPass(options.buckets));
  functions.addPass(createNameTensorsPass());
  // Whole units and buckets are decomposed, so this comes after they are formed; what it
  // adds between the messages becomes kernels, and each message is overlapped by itself.
  if (options.decompose)
    functions.addPass(createCommDecomposePass(options.messages));
}

/// From tensors to actions: library calls first, because what they take must not
/// be split into kernels, then sums that those calls make as well and tensors that they add to
/// theirs, then a kernel for each op left, then kernels into one another, and what they have computes what they read;
/// they look rows of tables up themselves. Sums over many tensors are cut in chunks while they are ops.  Updates move
/// up to gradients once both are actions; equal kernels, which a gradient's first reader bounds, come together behind
/// that, before communication is scheduled, which keeps the order of what computes.  Which parameters lie side by side
/// is decided before anything asks for memory.  The order of sums of attention follows from the memory of all that, and
/// what the libraries must count from the order.
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

/// Once nothing makes or merges actions any more, and before communication is scheduled, which
/// keeps the order of what computes.
void braid::buildOrderPipeline(OpPassManager &manager) {
  manager.addPass(createLowerPeakPass());
  manager.addPass(createVerifyValuesPass());
  manager.addPass(createVerifyFactsPass());
}

/// Once it is clear which updates stand where, because states are copied in groups of those that are
/// updated one after the other; and before communication is scheduled, as copies are with it.
void braid::buildOffloadPipeline(OpPassManager &manager, const OffloadPipelineOptions &options) {
  if (options.offloadsState)
    manager.addPass(createOffloadStatePass(options.state));
  // Behind it, because what it fetches takes its time on the link, too.
  if (options.offloadsActivations)
    manager.addPass(createOffloadActivationsPass(options.activations));
  manager.addPass(createVerifyValuesPass());
  manager.addPass(createVerifyFactsPass());
}

/// Communication beside computation.  Costs are those of kernels, so it comes after
/// they are formed; lives are read from block order, so it comes before memory.
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

/// From values to bytes.  The planner reads lives from block order, so from here
/// on nothing moves an action.  Equal kernels can only be recognised once their
/// layouts are known, hence outlining and batching afterwards.  Which matmuls collectives run
/// beside is known when no action is added or merged any more.
void braid::buildMemoryPipeline(OpPassManager &manager, const MemoryPipelineOptions &options) {
  manager.addPass(createPlanMemory(options.plan));
  if (options.padMatmuls)
    manager.addPass(createPadMatmulsPass());
  manager.addPass(createOutlineKernelsPass());
  if (options.shortRowLoops)
    manager.addPass(createShortenRowLoopsPass());
  manager.addPass(createBatchLaunchesPass());
  // Which launches share a kernel, and what lies between them, is known now.
  if (options.streamStores)
    manager.addPass(createStreamStoresPass());
  // Sizes of matmuls are final once they are padded.
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
