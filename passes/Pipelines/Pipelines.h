//===- Pipelines.h - the phases of a training program's compilation -*- C++ -*-===//
//
// A phase is a function that adds its passes to a list. Its options select the passes that run, and are options of the
// pipeline in braid-opt. The options of a single pass are in the settings of the list. Optional passes need no option
// here: `without` leaves them out by name.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_PIPELINES_PIPELINES_H
#define BRAID_PASSES_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassOptions.h"
#include "passes/Pipelines/PassList.h"

namespace braid {

/// Options that every phase has in braid-opt.
template <typename Options> struct PhaseOptions : mlir::PassPipelineOptions<Options> {
  mlir::detail::PassOptions::ListOption<std::string> without{*this, "without",
                                                             llvm::cl::desc("Optional passes to leave out")};
};

struct OnlyPhaseOptions : PhaseOptions<OnlyPhaseOptions> {};

/// Returns all optional passes, in the order of the pipeline.
std::vector<PassList::Entry> optionalPasses();
/// Returns why a pass of this name cannot be left out; empty for an optional pass.
std::string faultOfLeavingOut(llvm::StringRef name);

//===----------------------------------------------------------------------===//
// From a graph to its training programs
//===----------------------------------------------------------------------===//

struct PreparePipelineOptions : PhaseOptions<PreparePipelineOptions> {
  Option<Integer<1>> accumulate{*this, "accumulate", llvm::cl::desc("Microbatches of a step"), llvm::cl::init(1)};
  Option<bool> mixedPrecision{*this, "mixed-precision", llvm::cl::desc("Compute in bf16")};
  Option<bool> mergeContractions{*this, "merge-contractions",
                                 llvm::cl::desc("Multiply a tensor by several weights at once")};
  Option<bool> unfuse{*this, "unfuse", llvm::cl::desc("Parts side by side in weights as a dim of their own")};
};
void buildPreparePipeline(PassList &passes, const PreparePipelineOptions &options);

struct LayoutPipelineOptions : PhaseOptions<LayoutPipelineOptions> {
  Option<std::string> mesh{*this, "mesh", llvm::cl::desc("The mesh as a layout says it: mesh tp = 4")};
  Option<bool> tensorParallel{*this, "tensor-parallel", llvm::cl::desc("Find what an axis shards of the weights")};
};
/// Chooses the layout of a model over axes without annotations.
void buildLayoutPipeline(PassList &passes, const LayoutPipelineOptions &options);

struct ProgramsPipelineOptions : PhaseOptions<ProgramsPipelineOptions> {
  Option<bool> hooks{*this, "hooks", llvm::cl::desc("Points for hooks where activations enter and leave units")};
};
void buildProgramsPipeline(PassList &passes, const ProgramsPipelineOptions &options);

struct DifferentiatePipelineOptions : PhaseOptions<DifferentiatePipelineOptions> {
  Option<bool> accumulate{*this, "accumulate", llvm::cl::desc("A step has several microbatches")};
  Option<bool> separateUpdate{*this, "separate-update", llvm::cl::desc("The update of a step adds no microbatch")};
  Option<bool> mixedPrecision{*this, "mixed-precision", llvm::cl::desc("The model computes in bf16")};
  Option<bool> hooks{*this, "hooks", llvm::cl::desc("Points for hooks on the gradients of parameters")};
  Option<bool> decode{*this, "decode",
                      llvm::cl::desc("A program for the next token that keeps what it knows of others")};
};
void buildDifferentiatePipeline(PassList &passes, const DifferentiatePipelineOptions &options);

struct OptimizerPipelineOptions : PhaseOptions<OptimizerPipelineOptions> {
  Option<bool> mixedPrecision{*this, "mixed-precision", llvm::cl::desc("Programs read bf16 copies of parameters")};
};
void buildOptimizerPipeline(PassList &passes, const OptimizerPipelineOptions &options);

//===----------------------------------------------------------------------===//
// To the programs of ranks
//===----------------------------------------------------------------------===//

struct AnnotatePipelineOptions : PhaseOptions<AnnotatePipelineOptions> {
  Option<std::string> mesh{*this, "mesh",
                           llvm::cl::desc("The mesh as a layout says it: mesh dp = 4; empty where it is there")};
  Option<std::string> layoutFile{*this, "layout-file", llvm::cl::desc("A layout; empty for none")};
  Option<bool> dataParallel{*this, "data-parallel", llvm::cl::desc("Shard the batch, and what ZeRO shards")};
};
void buildAnnotatePipeline(PassList &passes, const AnnotatePipelineOptions &options);

/// `comm-shard`: turns annotated functions into the programs of ranks.
void buildShardPipeline(PassList &passes, const OnlyPhaseOptions &options);

struct PartitionPipelineOptions : PhaseOptions<PartitionPipelineOptions> {
  Option<bool> rootParallel{*this, "root-parallel", llvm::cl::desc("The first rank holds all and updates alone")};
  Option<bool> noiseScale{*this, "noise-scale", llvm::cl::desc("Measure the gradient noise scale")};
  Option<bool> mixedPrecision{*this, "mixed-precision", llvm::cl::desc("The model computes in bf16")};
};
void buildPartitionPipeline(PassList &passes, const PartitionPipelineOptions &options);

//===----------------------------------------------------------------------===//
// To primitives, and to actions on values
//===----------------------------------------------------------------------===//

struct DecomposePipelineOptions : PhaseOptions<DecomposePipelineOptions> {
  Option<bool> attentionCalls{*this, "attention-calls",
                              llvm::cl::desc("Attention as calls of the target's library, or by tiles")};
  Option<bool> epilogues{*this, "epilogues", llvm::cl::desc("Activations as epilogues of matmul calls")};
  Option<bool> rings{*this, "rings", llvm::cl::desc("Blocks of a sequence may go round the ranks")};
  Option<bool> dotProducts{*this, "dot-products", llvm::cl::desc("A matrix times a vector is a kernel")};
  Option<bool> chunkContractions{*this, "chunk-contractions",
                                 llvm::cl::desc("Overlap collectives and the contractions beside them")};
};
void buildDecomposePipeline(PassList &passes, const DecomposePipelineOptions &options);

void buildRecomputePipeline(PassList &passes, const OnlyPhaseOptions &options);

/// Cuts programs into those of a pipeline's ranks.
void buildStagesPipeline(PassList &passes, const OnlyPhaseOptions &options);

struct CollectivesPipelineOptions : PhaseOptions<CollectivesPipelineOptions> {
  Option<bool> gatherUnits{*this, "gather-units", llvm::cl::desc("ZeRO-3: gather the parameters of a unit at once")};
  Option<bool> decompose{*this, "decompose", llvm::cl::desc("Collectives as messages between pairs of ranks")};
};
void buildCollectivesPipeline(PassList &passes, const CollectivesPipelineOptions &options);

struct ActionsPipelineOptions : PhaseOptions<ActionsPipelineOptions> {
  Option<bool> biasGradients{*this, "bias-gradients", llvm::cl::desc("Bias gradients by calls where the target can"),
                             llvm::cl::init(true)};
  Option<bool> addends{*this, "addends", llvm::cl::desc("Residual sums by calls where the target can"),
                       llvm::cl::init(true)};
  Option<bool> ordersAttention{*this, "orders-attention", llvm::cl::desc("There may be library calls of attention")};
};
void buildActionsPipeline(PassList &passes, const ActionsPipelineOptions &options);

/// Orders the actions of programs.
void buildOrderPipeline(PassList &passes, const OnlyPhaseOptions &options);

/// Moves optimizer state and activations to host memory.
struct OffloadPipelineOptions : PhaseOptions<OffloadPipelineOptions> {
  Option<bool> offloadsState{*this, "state", llvm::cl::desc("State of the optimizer"), llvm::cl::init(true)};
  Option<bool> offloadsActivations{*this, "activations", llvm::cl::desc("Activations"), llvm::cl::init(false)};
};
void buildOffloadPipeline(PassList &passes, const OffloadPipelineOptions &options);

struct OverlapPipelineOptions : PhaseOptions<OverlapPipelineOptions> {
  Option<bool> fillsWaits{*this, "fills-waits",
                          llvm::cl::desc("Compute what is independent while collectives are waited for"),
                          llvm::cl::init(true)};
};
void buildOverlapPipeline(PassList &passes, const OverlapPipelineOptions &options);

//===----------------------------------------------------------------------===//
// To actions in memory
//===----------------------------------------------------------------------===//

struct MemoryPipelineOptions : PhaseOptions<MemoryPipelineOptions> {
  Option<bool> ranks{*this, "ranks", llvm::cl::desc("Check the order of collectives among ranks")};
};
void buildMemoryPipeline(PassList &passes, const MemoryPipelineOptions &options);

/// Registers every phase as a pipeline of braid-opt: `--braid-prepare=accumulate=2`.
void registerPipelines();

} // namespace braid

#endif // BRAID_PASSES_PIPELINES_PIPELINES_H
