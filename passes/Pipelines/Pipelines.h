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
std::string reasonPassIsRequired(llvm::StringRef name);

//===----------------------------------------------------------------------===//
// From a graph to its training programs
//===----------------------------------------------------------------------===//

struct PreparePipelineOptions : PhaseOptions<PreparePipelineOptions> {
  Option<Integer<1>> accumulate{*this, "accumulate", llvm::cl::desc("Microbatches in a step"), llvm::cl::init(1)};
  Option<bool> mixedPrecision{*this, "mixed-precision", llvm::cl::desc("Compute in bf16")};
  Option<bool> mergeContractions{*this, "merge-contractions",
                                 llvm::cl::desc("Merge contractions of one tensor with several weights")};
  Option<bool> unfuse{*this, "unfuse", llvm::cl::desc("Split concatenated parts of weights into a separate dim")};
};
void buildPreparePipeline(PassList &passes, const PreparePipelineOptions &options);

struct LayoutPipelineOptions : PhaseOptions<LayoutPipelineOptions> {
  Option<std::string> mesh{*this, "mesh", llvm::cl::desc("Mesh in the syntax of a layout, as in mesh tp = 4")};
  Option<bool> tensorParallel{*this, "tensor-parallel",
                              llvm::cl::desc("Choose the dims of weights that a mesh axis shards")};
};
/// Chooses the layout of a model over axes without annotations.
void buildLayoutPipeline(PassList &passes, const LayoutPipelineOptions &options);

struct ProgramsPipelineOptions : PhaseOptions<ProgramsPipelineOptions> {
  Option<bool> hooks{*this, "hooks", llvm::cl::desc("Add hook points where activations enter and leave units")};
};
void buildProgramsPipeline(PassList &passes, const ProgramsPipelineOptions &options);

struct DifferentiatePipelineOptions : PhaseOptions<DifferentiatePipelineOptions> {
  Option<bool> accumulate{*this, "accumulate", llvm::cl::desc("Sum the gradients of several microbatches in a step")};
  Option<bool> separateUpdate{*this, "separate-update",
                              llvm::cl::desc("Run the update in a program that computes no microbatch")};
  Option<bool> mixedPrecision{*this, "mixed-precision", llvm::cl::desc("Compute in bf16")};
  Option<bool> hooks{*this, "hooks", llvm::cl::desc("Add hook points on the gradients of parameters")};
  Option<bool> decode{*this, "decode",
                      llvm::cl::desc("Make a program that computes the next token from cached keys and values")};
};
void buildDifferentiatePipeline(PassList &passes, const DifferentiatePipelineOptions &options);

struct OptimizerPipelineOptions : PhaseOptions<OptimizerPipelineOptions> {
  Option<bool> mixedPrecision{*this, "mixed-precision", llvm::cl::desc("Let programs read bf16 copies of parameters")};
};
void buildOptimizerPipeline(PassList &passes, const OptimizerPipelineOptions &options);

//===----------------------------------------------------------------------===//
// To the programs of ranks
//===----------------------------------------------------------------------===//

struct AnnotatePipelineOptions : PhaseOptions<AnnotatePipelineOptions> {
  Option<std::string> mesh{
      *this, "mesh",
      llvm::cl::desc("Mesh in the syntax of a layout, as in mesh dp = 4; empty if the module has a mesh")};
  Option<std::string> layoutFile{*this, "layout-file", llvm::cl::desc("File name of a layout; empty for none")};
  Option<bool> dataParallel{*this, "data-parallel",
                            llvm::cl::desc("Shard the batch, and the tensors of the ZeRO stage")};
};
void buildAnnotatePipeline(PassList &passes, const AnnotatePipelineOptions &options);

/// `comm-shard`: turns annotated functions into the programs of ranks.
void buildShardPipeline(PassList &passes, const OnlyPhaseOptions &options);

struct PartitionPipelineOptions : PhaseOptions<PartitionPipelineOptions> {
  Option<bool> rootParallel{*this, "root-parallel",
                            llvm::cl::desc("Keep all state on the first rank, which alone runs the update")};
  Option<bool> noiseScale{*this, "noise-scale", llvm::cl::desc("Measure the gradient noise scale")};
  Option<bool> mixedPrecision{*this, "mixed-precision", llvm::cl::desc("Compute in bf16")};
};
void buildPartitionPipeline(PassList &passes, const PartitionPipelineOptions &options);

//===----------------------------------------------------------------------===//
// To primitives, and to actions on values
//===----------------------------------------------------------------------===//

struct DecomposePipelineOptions : PhaseOptions<DecomposePipelineOptions> {
  Option<bool> actions{*this, "actions",
                       llvm::cl::desc("Select attention, dot products and epilogues, because graphs become actions")};
  Option<bool> rings{*this, "rings", llvm::cl::desc("Form rings that pass blocks of a sequence around the ranks")};
  Option<bool> chunkContractions{*this, "chunk-contractions",
                                 llvm::cl::desc("Chunk contractions to overlap them with adjacent collectives")};
};
void buildDecomposePipeline(PassList &passes, const DecomposePipelineOptions &options);

void buildRecomputePipeline(PassList &passes, const OnlyPhaseOptions &options);

/// Cuts programs into those of a pipeline's ranks.
void buildStagesPipeline(PassList &passes, const OnlyPhaseOptions &options);

struct CollectivesPipelineOptions : PhaseOptions<CollectivesPipelineOptions> {
  Option<bool> gatherUnits{*this, "gather-units",
                           llvm::cl::desc("With ZeRO-3: gather the parameters of a unit together")};
  Option<bool> decompose{*this, "decompose",
                         llvm::cl::desc("Decompose collectives into messages between pairs of ranks")};
};
void buildCollectivesPipeline(PassList &passes, const CollectivesPipelineOptions &options);

struct ActionsPipelineOptions : PhaseOptions<ActionsPipelineOptions> {
  Option<bool> ordersAttention{*this, "orders-attention",
                               llvm::cl::desc("Choose the summation order of attention's library calls")};
};
void buildActionsPipeline(PassList &passes, const ActionsPipelineOptions &options);

/// Orders the actions of programs.
void buildOrderPipeline(PassList &passes, const OnlyPhaseOptions &options);

/// Moves optimizer state and activations to host memory.
struct OffloadPipelineOptions : PhaseOptions<OffloadPipelineOptions> {
  Option<bool> offloadsState{*this, "state", llvm::cl::desc("Offload optimizer state"), llvm::cl::init(true)};
  Option<bool> offloadsActivations{*this, "activations", llvm::cl::desc("Offload activations"), llvm::cl::init(false)};
};
void buildOffloadPipeline(PassList &passes, const OffloadPipelineOptions &options);

void buildOverlapPipeline(PassList &passes, const OnlyPhaseOptions &options);

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
