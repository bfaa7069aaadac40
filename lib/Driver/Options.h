//===- Options.h - options of braidc ----------------------------*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_OPTIONS_H
#define BRAID_LIB_DRIVER_OPTIONS_H

#include "passes/Graph/Passes.h"
#include "passes/Lower/AttentionChoice.h"
#include "passes/Recompute/Policy.h"
#include "passes/Strategies/ContextWay.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace braid {

/// Outputs of the compiler, in order of its levels.
enum class Emit {
  Tg,     // programs in primitives; with a mesh, for all ranks together
  Comm,   // programs of a rank, with their collectives
  Exec,   // actions on values
  Memory, // actions in memory
  Cpp,    // generated sources
  Cu,     // the same for CUDA
  Dir,    // generated sources, sources of the runtime, and a CMakeLists.txt
  Exe,    // the training binary
};

/// Options of the optimizer, with the defaults of its pass.
struct OptimizerOptions {
  std::string name = ApplyOptimizerPassOptions().optimizer;
  /// Given hyperparameters, each as "beta1=0.9".
  std::vector<std::string> hyperparameters;
  std::vector<std::string> decayExclude;
  double clip = ApplyOptimizerPassOptions().clip;
};

/// Element types for compute and storage. Empty means the default.
struct PrecisionOptions {
  /// f32 or bf16. The stored moments of the optimizer may also be int8.
  std::string compute, gradients, reductions, moments;

  bool isMixed() const { return compute == "bf16"; }
};

struct MeshAxis {
  std::string name;
  int64_t size;
};

/// Parallelism options. An option that was not given is empty: the pass's own default holds, and an option without
/// effect can be refused.
struct ParallelOptions {
  /// The mesh as the user wrote it, `dp=4,tp=2`, and parsed; empty for one rank.
  std::string meshText;
  std::vector<MeshAxis> mesh;
  std::optional<int64_t> zero;
  /// "zero" plans every stage of ZeRO and compares their costs, "mesh" every mesh of `ranks`; empty compiles one
  /// program.
  std::string compare;
  int64_t ranks = 0;
  /// "dataparallel"; empty follows `zero`.
  std::string strategy;
  /// File name of a layout for `comm-annotate`.
  std::string layout;
  /// Axes that no layout names: tp, for which a layout is searched; the axes of experts; and the axes of the sequence.
  bool searchesLayout = false;
  std::vector<std::string> expertAxes, sequenceAxes;
  /// Axes of one rank that no layout names. Options may ask for them; nothing is sharded over them.
  std::vector<std::string> axesOfOne;
  /// Axes that shard weights, named by a layout or not.
  std::vector<std::string> tensorAxes;
  /// `ep:dp,cp`: the existing axes dp and cp together shard experts, too.
  std::string fold;
  /// Algorithm that gives the positions of a sharded sequence access to other positions.
  ContextWay context = ContextWay::Auto;
  /// Order in which positions are distributed over ranks.
  ContextOrder contextOrder = ContextOrder::Auto;
  /// Whether tp also shards the sequence of activations.
  bool sequenceParallel = false;
  /// Axis of pipeline stages, or empty. The schedule (a name or a file), the stages on each rank, and the units of each
  /// stage.
  std::string stageAxis, schedule, stages;
  std::optional<int64_t> chunks;
  std::optional<bool> reshardAfterForward;
  bool unreducedAccumulators = false, noiseScale = false;
  std::string bucketMb, firstBucketMb;
  /// "library", or an algorithm of comm-decompose; empty for library.
  std::string collectives;
  /// "full", "in-order" or "none".
  std::string overlap;
  std::optional<int64_t> prefetch;
  /// Number of chunks of rows whose collectives over `tensorAxes` overlap with the matmuls of the others, or "auto";
  /// empty for one.
  std::string tpOverlap;
  /// Most CTAs of a collective on a GPU; 0 for the library's choice.
  std::optional<int64_t> commCtas;
  /// Rates for the cost model: `latency_us,GBps`, optionally by axis, and `GFLOPS,GBps`. Empty for those of the target.
  std::string link, compute;
  /// Transports of the target that the binary can use; empty for all that are available.
  std::vector<std::string> transports;

  bool isParallel() const { return !mesh.empty(); }
  bool hasStages() const { return !stageAxis.empty(); }
  /// Whether layouts are chosen for axes without a sharding annotation.
  bool choosesLayout() const { return searchesLayout || !expertAxes.empty() || !sequenceAxes.empty(); }
  /// Whether ranks share weights in other shards than flat ranges.
  bool shardsWeights() const { return searchesLayout || !expertAxes.empty() || !layout.empty(); }
  bool decomposesCollectives() const { return !collectives.empty() && collectives != "library"; }
};

/// A choice of values to replay, for --recompute=auto.
struct ReplayChoice {
  /// Price of a replay, or none if nothing is replayed.
  std::optional<ReplayWorth> worth;
  /// Statements of tg-recompute for choices that a price cannot express.
  std::string statements;
};

struct DriverOptions {
  /// Names of the given options, and these options with values, such as "--zero=3", for messages and reports.
  std::vector<std::string> given, words;
  std::string input, output;
  Emit emit = Emit::Exe;
  /// Name of a target in TargetInfo. On the command line, a colon and the GPU may follow.
  std::string target = "cpu";
  /// "sm_90"; empty if the target is not a GPU.
  std::string gpu;
  int64_t accumulate = 1;
  OptimizerOptions optimizer;
  PrecisionOptions precision;
  /// Hooks as POINT:ACTION, or `list` (Hooks.h).
  std::vector<std::string> hooks;
  AttentionWay attention = AttentionWay::Auto;
  AttentionOrder attentionOrder = AttentionOrder::Auto;
  /// full, gradients, activations or none: whether matmul calls apply activations, compute bias gradients and add
  /// residuals, if the target's library supports that; empty for full.
  std::string epilogues;
  /// on or off: whether matmuls of one tensor with several weights are merged; empty for the default of the target and
  /// the layout.
  std::string mergeMatmuls;
  /// on or off: whether sampling caches the keys and values of earlier positions; empty for on.
  std::string kvCache;
  /// on or off: whether programs for text generation are built; empty for on.
  std::string sampling;
  /// short or full: whether loops over the lanes of rows skip unneeded lanes; empty for short.
  std::string rowLoops;
  /// streamed or cached: whether results that are not read soon bypass the caches; empty for streamed.
  std::string stores;
  /// kernel or library: which code multiplies a matrix by a vector; empty for kernel.
  std::string dotProducts;
  /// once or library: which code packs the right operands of matmuls into panels; empty for once.
  std::string panels;
  RecomputePolicy recompute = RecomputePolicy::None;
  /// Largest arena for --recompute=auto; empty for the memory limit.
  std::string recomputeBudget;
  /// List of units and values to replay, by name; empty for no list.
  std::string recomputeFile;
  /// Values to replay that --recompute=auto chose.
  ReplayChoice replays;
  ParallelOptions parallel;
  /// auto, none, or the rows of logits that exist at one time. If empty, auto when plans are made: with a memory limit,
  /// or for large logits.
  std::string lossChunk;
  /// early or late: whether a parameter is updated during backward, as soon as its gradient is complete; empty for
  /// early.
  std::string update;
  /// peak or graph: whether actions are reordered to lower the peak; empty for peak.
  std::string order;
  /// none, optimizer, activations or both with a comma: data that is kept in host memory and copied to the GPU when
  /// needed; empty for none.
  std::string offload;
  /// hidden or all: which activations are offloaded; empty for hidden.
  std::string offloadActivations;
  /// Alignment of the rows of transient tensors in bytes, used where the padding costs little; empty for that of the
  /// target.
  std::optional<int64_t> rowAlignment;
  /// Bytes, possibly with a unit; empty for none.
  std::string memoryLimit;
  /// Whether only the cost of a plan is asked for. A plan beyond the memory limit is then no error. The IR is not
  /// verified after phases, because the final plan will be.
  bool isTrial = false;
  /// A file for the plan as JSON, "-" to print it readably, empty for neither.
  std::string report;
  /// Value of -march=; empty for the processor of this machine.
  std::string cpu;
  std::string compiler = "c++";
  /// Path of the CUDA compiler. An empty option starts a search; afterwards empty means that none was found.
  std::string nvcc;
  /// Folder in which generated sources are kept.
  std::string keepSources;
  /// Folder with lib/braid and share/braid; empty to search around the program.
  std::string runtimeDir;
  /// Passes after which the IR is printed, or `all`.
  std::vector<std::string> printIrAfter;
  bool printPipeline = false, verbose = false;

  bool offloadsState() const { return offload.starts_with("optimizer"); }
  bool offloadsActivations() const { return offload.ends_with("activations"); }
  bool offloads() const { return offloadsState() || offloadsActivations(); }
  /// Whether any value may be replayed.
  bool recomputes() const { return recompute != RecomputePolicy::None || !recomputeFile.empty(); }
};

} // namespace braid

#endif // BRAID_LIB_DRIVER_OPTIONS_H
