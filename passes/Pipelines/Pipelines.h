//===- Pipelines.h - the phases of a training program's compilation -*- C++ -*-===//
//
// A phase is a function that adds its passes to a manager. Its options select the passes that run, and are options of
// the pipeline in braid-opt. Options of a single pass are in that pass's own struct, with defaults in Passes.td.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_PIPELINES_PIPELINES_H
#define BRAID_PASSES_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassOptions.h"
#include "passes/Collectives/Passes.h"
#include "passes/Graph/Passes.h"
#include "passes/Lower/Passes.h"
#include "passes/Memory/Passes.h"
#include "passes/Overlap/Passes.h"
#include "passes/Recompute/Passes.h"
#include "passes/Sharding/Passes.h"
#include "passes/Stages/Passes.h"
#include "passes/Strategies/Passes.h"

namespace braid {

//===----------------------------------------------------------------------===//
// From a graph to its training programs
//===----------------------------------------------------------------------===//

struct PreparePipelineOptions : mlir::PassPipelineOptions<PreparePipelineOptions> {
  Option<Integer<1>> accumulate{*this, "accumulate", llvm::cl::desc("Microbatches of a step"), llvm::cl::init(1)};
  Option<bool> mixedPrecision{*this, "mixed-precision", llvm::cl::desc("Compute in bf16")};
  Option<bool> mergeContractions{*this, "merge-contractions",
                                 llvm::cl::desc("Multiply a tensor by several weights at once")};
  Option<bool> unfuse{*this, "unfuse", llvm::cl::desc("Parts side by side in weights as a dim of their own")};
  SetTargetPassOptions target;
  SetMachinePassOptions machine;
};
void buildPreparePipeline(mlir::OpPassManager &manager, const PreparePipelineOptions &options);

struct LayoutPipelineOptions : mlir::PassPipelineOptions<LayoutPipelineOptions> {
  Option<std::string> mesh{*this, "mesh", llvm::cl::desc("The mesh as a layout says it: mesh tp = 4")};
  Option<bool> expertParallel{*this, "expert-parallel", llvm::cl::desc("An axis shards experts")};
  ExpertParallelPassOptions experts;
  Option<bool> tensorParallel{*this, "tensor-parallel", llvm::cl::desc("Find what an axis shards of the weights")};
  RepeatHeadsPassOptions heads;
  Option<bool> contextParallel{*this, "context-parallel", llvm::cl::desc("The sequence is sharded")};
  TensorParallelPassOptions tensor;
  ContextParallelPassOptions context;
};
/// Chooses the layout of a model over axes without annotations.
void buildLayoutPipeline(mlir::OpPassManager &manager, const LayoutPipelineOptions &options);

struct ProgramsPipelineOptions : mlir::PassPipelineOptions<ProgramsPipelineOptions> {
  Option<bool> hooks{*this, "hooks", llvm::cl::desc("Points for hooks where activations enter and leave units")};
  MakeProgramsPassOptions programs;
};
void buildProgramsPipeline(mlir::OpPassManager &manager, const ProgramsPipelineOptions &options);

struct DifferentiatePipelineOptions : mlir::PassPipelineOptions<DifferentiatePipelineOptions> {
  Option<bool> accumulate{*this, "accumulate", llvm::cl::desc("A step has several microbatches")};
  Option<bool> separateUpdate{*this, "separate-update", llvm::cl::desc("The update of a step adds no microbatch")};
  Option<bool> mixedPrecision{*this, "mixed-precision", llvm::cl::desc("The model computes in bf16")};
  Option<bool> hooks{*this, "hooks", llvm::cl::desc("Points for hooks on the gradients of parameters")};
  Option<bool> decode{*this, "decode",
                      llvm::cl::desc("A program for the next token that keeps what it knows of others")};
  GradientPrecisionPassOptions gradients;
  AttachHooksPassOptions attachments;
};
void buildDifferentiatePipeline(mlir::OpPassManager &manager, const DifferentiatePipelineOptions &options);

struct OptimizerPipelineOptions : mlir::PassPipelineOptions<OptimizerPipelineOptions> {
  Option<bool> mixedPrecision{*this, "mixed-precision", llvm::cl::desc("Programs read bf16 copies of parameters")};
  ApplyOptimizerPassOptions optimizer;
  StatePrecisionPassOptions states;
};
void buildOptimizerPipeline(mlir::OpPassManager &manager, const OptimizerPipelineOptions &options);

//===----------------------------------------------------------------------===//
// To the programs of ranks
//===----------------------------------------------------------------------===//

struct AnnotatePipelineOptions : mlir::PassPipelineOptions<AnnotatePipelineOptions> {
  Option<std::string> mesh{*this, "mesh",
                           llvm::cl::desc("The mesh as a layout says it: mesh dp = 4; empty where it is there")};
  Option<std::string> layoutFile{*this, "layout-file", llvm::cl::desc("A layout; empty for none")};
  Option<bool> dataParallel{*this, "data-parallel", llvm::cl::desc("Shard the batch, and what ZeRO shards")};
  DataParallelPassOptions strategy;
};
void buildAnnotatePipeline(mlir::OpPassManager &manager, const AnnotatePipelineOptions &options);

/// `comm-shard`: turns annotated functions into the programs of ranks.
void buildShardPipeline(mlir::OpPassManager &manager);

struct PartitionPipelineOptions : mlir::PassPipelineOptions<PartitionPipelineOptions> {
  Option<bool> rootParallel{*this, "root-parallel", llvm::cl::desc("The first rank holds all and updates alone")};
  Option<bool> noiseScale{*this, "noise-scale", llvm::cl::desc("Measure the gradient noise scale")};
  Option<bool> mixedPrecision{*this, "mixed-precision", llvm::cl::desc("The model computes in bf16")};
  NoiseScalePassOptions noise;
  ReducePrecisionPassOptions reductions;
};
void buildPartitionPipeline(mlir::OpPassManager &manager, const PartitionPipelineOptions &options);

//===----------------------------------------------------------------------===//
// To primitives, and to actions on values
//===----------------------------------------------------------------------===//

struct DecomposePipelineOptions : mlir::PassPipelineOptions<DecomposePipelineOptions> {
  Option<bool> attentionCalls{*this, "attention-calls",
                              llvm::cl::desc("Attention as calls of the target's library, or by tiles")};
  Option<bool> epilogues{*this, "epilogues", llvm::cl::desc("Activations as epilogues of matmul calls")};
  Option<bool> rings{*this, "rings", llvm::cl::desc("Blocks of a sequence may go round the ranks")};
  Option<bool> dotProducts{*this, "dot-products", llvm::cl::desc("A matrix times a vector is a kernel")};
  Option<bool> chunkContractions{*this, "chunk-contractions",
                                 llvm::cl::desc("Overlap collectives and the contractions beside them")};
  SelectAttentionPassOptions attention;
  ChunkLossPassOptions loss;
  ChunkContractionsPassOptions chunks;
};
void buildDecomposePipeline(mlir::OpPassManager &manager, const DecomposePipelineOptions &options);

struct RecomputePipelineOptions : mlir::PassPipelineOptions<RecomputePipelineOptions> {
  RecomputePassOptions recompute;
};
void buildRecomputePipeline(mlir::OpPassManager &manager, const RecomputePipelineOptions &options);

struct StagesPipelineOptions : mlir::PassPipelineOptions<StagesPipelineOptions> {
  StagesPassOptions stages;
};
/// Cuts programs into those of a pipeline's ranks.
void buildStagesPipeline(mlir::OpPassManager &manager, const StagesPipelineOptions &options);

struct CollectivesPipelineOptions : mlir::PassPipelineOptions<CollectivesPipelineOptions> {
  Option<bool> gatherUnits{*this, "gather-units", llvm::cl::desc("ZeRO-3: gather the parameters of a unit at once")};
  Option<bool> decompose{*this, "decompose", llvm::cl::desc("Collectives as messages between pairs of ranks")};
  GatherUnitsPassOptions units;
  BucketPassOptions buckets;
  CommDecomposePassOptions messages;
};
void buildCollectivesPipeline(mlir::OpPassManager &manager, const CollectivesPipelineOptions &options);

struct ActionsPipelineOptions : mlir::PassPipelineOptions<ActionsPipelineOptions> {
  Option<bool> chunkSums{*this, "chunk-sums", llvm::cl::desc("Sum many tensors in chunks of one length"),
                         llvm::cl::init(true)};
  Option<bool> biasGradients{*this, "bias-gradients", llvm::cl::desc("Bias gradients by calls where the target can"),
                             llvm::cl::init(true)};
  Option<bool> addends{*this, "addends", llvm::cl::desc("Residual sums by calls where the target can"),
                       llvm::cl::init(true)};
  Option<bool> fuseGathers{*this, "fuse-gathers", llvm::cl::desc("Kernels look rows of tables up that they read"),
                           llvm::cl::init(true)};
  Option<bool> recomputeOperands{*this, "recompute-operands",
                                 llvm::cl::desc("Compute operands of kernels again from their other operands"),
                                 llvm::cl::init(true)};
  Option<bool> earlyUpdates{*this, "early-updates", llvm::cl::desc("Update parameters during backward"),
                            llvm::cl::init(true)};
  Option<bool> gatherKernels{*this, "gather-kernels", llvm::cl::desc("Move equal small kernels next to each other"),
                             llvm::cl::init(true)};
  Option<bool> ordersAttention{*this, "orders-attention", llvm::cl::desc("There may be library calls of attention")};
  OrderAttentionPassOptions attention;
  EarlyUpdatesPassOptions updates;
};
void buildActionsPipeline(mlir::OpPassManager &manager, const ActionsPipelineOptions &options);

/// Orders the actions of programs.
void buildOrderPipeline(mlir::OpPassManager &manager);

/// Moves optimizer state and activations to host memory.
struct OffloadPipelineOptions : mlir::PassPipelineOptions<OffloadPipelineOptions> {
  Option<bool> offloadsState{*this, "state", llvm::cl::desc("State of the optimizer"), llvm::cl::init(true)};
  Option<bool> offloadsActivations{*this, "activations", llvm::cl::desc("Activations"), llvm::cl::init(false)};
  OffloadStatePassOptions state;
  OffloadActivationsPassOptions activations;
};
void buildOffloadPipeline(mlir::OpPassManager &manager, const OffloadPipelineOptions &options);

struct OverlapPipelineOptions : mlir::PassPipelineOptions<OverlapPipelineOptions> {
  Option<bool> fillsWaits{*this, "fills-waits",
                          llvm::cl::desc("Compute what is independent while collectives are waited for"),
                          llvm::cl::init(true)};
  OverlapPassOptions overlap;
};
void buildOverlapPipeline(mlir::OpPassManager &manager, const OverlapPipelineOptions &options);

//===----------------------------------------------------------------------===//
// To actions in memory
//===----------------------------------------------------------------------===//

struct MemoryPipelineOptions : mlir::PassPipelineOptions<MemoryPipelineOptions> {
  Option<bool> ranks{*this, "ranks", llvm::cl::desc("Check the order of collectives among ranks")};
  Option<bool> padMatmuls{*this, "pad-matmuls", llvm::cl::desc("Matmuls compute the padding of rows, too"),
                          llvm::cl::init(true)};
  Option<bool> shortRowLoops{*this, "short-row-loops", llvm::cl::desc("Loops over lanes compute only what they must"),
                             llvm::cl::init(true)};
  Option<bool> streamStores{*this, "stream-stores", llvm::cl::desc("Results that are not read soon go past the caches"),
                            llvm::cl::init(true)};
  Option<bool> splitMatmuls{*this, "split-matmuls",
                            llvm::cl::desc("Large matmuls compute the last rows or columns apart"),
                            llvm::cl::init(true)};
  Option<bool> copyPanels{*this, "copy-panels",
                          llvm::cl::desc("Matmuls with many rows copy an operand into panels once"),
                          llvm::cl::init(true)};
  PlanMemoryOptions plan;
  ShareMultiprocessorsPassOptions share;
};
void buildMemoryPipeline(mlir::OpPassManager &manager, const MemoryPipelineOptions &options);

/// Registers every phase as a pipeline of braid-opt: `--braid-prepare=accumulate=2`.
void registerPipelines();

} // namespace braid

#endif // BRAID_PASSES_PIPELINES_PIPELINES_H
