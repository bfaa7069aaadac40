//===- Options.h - what braidc was asked to do ------------------*- C++ -*-===//
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

/// Where the compiler stops, in order.
enum class Emit {
  Tg,     // the programs, in primitives; with a mesh, of all ranks together
  Comm,   // the programs of a rank, with their collectives
  Exec,   // actions on values
  Memory, // actions in memory
  Cpp,    // generated sources
  Cu,     // the same for CUDA
  Dir,    // generated sources, the runtime's and a CMakeLists.txt
  Exe,    // the training binary
};

/// With the defaults of the pass.
struct OptimizerOptions {
  std::string name = ApplyOptimizerPassOptions().optimizer;
  /// Those that were given, "beta1=0.9".
  std::vector<std::string> hyperparameters;
  std::vector<std::string> decayExclude;
  double clip = ApplyOptimizerPassOptions().clip;
};

/// In which types is computed and stored.  What was not said is empty.
struct PrecisionOptions {
  /// f32 or bf16; of moments, as they are stored, also int8.
  std::string compute, gradients, reductions, moments;

  bool isMixed() const { return compute == "bf16"; }
};

struct MeshAxis {
  std::string name;
  int64_t size;
};

/// What is said of ranks.  What was not said is empty, so that a word without a
/// meaning here can be refused, and so that the passes' own defaults hold.
struct ParallelOptions {
  /// As it was written, `dp=4,tp=2`, and as it was understood; empty for one rank.
  std::string meshText;
  std::vector<MeshAxis> mesh;
  std::optional<int64_t> zero;
  /// "zero" to plan every stage and say what each costs, "mesh" to plan every mesh of `ranks`; empty to
  /// compile one.
  std::string compare;
  int64_t ranks = 0;
  /// "dataparallel", or empty for what `zero` says.
  std::string strategy;
  /// A file of `comm-annotate`.
  std::string layout;
  /// Axes that no layout names: whether tp is one, for which a layout is searched, those that shard
  /// experts, and those that shard the sequence.
  bool searchesLayout = false;
  std::vector<std::string> expertAxes, sequenceAxes;
  /// Axes of one rank that no layout names. Options may ask for them; nothing is sharded over them.
  std::vector<std::string> axesOfOne;
  /// Those that shard weights, whether a layout names them or not.
  std::vector<std::string> tensorAxes;
  /// `ep:dp,cp`: axes of something else that shard experts, too.
  std::string fold;
  /// How positions of a sharded sequence read others.
  ContextWay context = ContextWay::Auto;
  /// Which of them a rank has.
  ContextOrder contextOrder = ContextOrder::Auto;
  /// tp shards the sequence of activations, too.
  bool sequenceParallel = false;
  /// The axis along which stages of the model lie; empty for none.  Its schedule, which is a name or
  /// a file, the stages on each rank, and the units of each.
  std::string stageAxis, schedule, stages;
  std::optional<int64_t> chunks;
  std::optional<bool> reshardAfterForward;
  bool unreducedAccumulators = false, noiseScale = false;
  std::string bucketMb, firstBucketMb;
  /// "library", or the algorithm of comm-decompose; empty for library.
  std::string collectives;
  /// "full", "in-order" or "none".
  std::string overlap;
  std::optional<int64_t> prefetch;
  /// How many chunks of rows overlap with their own collective over `tensorAxes`: a number or "auto"; empty for one.
  std::string tpOverlap;
  /// The most CTAs of a collective on a GPU; 0 for the library's choice.
  std::optional<int64_t> commCtas;
  /// Rates for the cost model: `latency_us,GBps`, possibly by axis, and `GFLOPS,GBps`.  Empty for the target's.
  std::string link, compute;
  /// Which of the target's transports the binary can run on; empty for those there are.
  std::vector<std::string> transports;

  bool isParallel() const { return !mesh.empty(); }
  bool hasStages() const { return !stageAxis.empty(); }
  /// Whether something is chosen for an axis that nothing is said of.
  bool choosesLayout() const { return searchesLayout || !expertAxes.empty() || !sequenceAxes.empty(); }
  /// Whether ranks share weights otherwise than in flat ranges.
  bool shardsWeights() const { return searchesLayout || !expertAxes.empty() || !layout.empty(); }
  bool decomposesCollectives() const { return !collectives.empty() && collectives != "library"; }
};

/// What --recompute=auto makes of the graph.
struct ReplayChoice {
  /// None where nothing is replayed.
  std::optional<ReplayWorth> worth;
  /// What prices do not say, as statements of tg-recompute.
  std::string statements;
};

struct DriverOptions {
  /// The names of the options that were given, and these options with their values, "--zero=3", for people.
  std::vector<std::string> given, words;
  std::string input, output;
  Emit emit = Emit::Exe;
  /// In TargetInfo; as an option, with a colon and the GPU after it.
  std::string target = "cpu";
  /// "sm_90"; empty if the target is not a GPU.
  std::string gpu;
  int64_t accumulate = 1;
  OptimizerOptions optimizer;
  PrecisionOptions precision;
  /// POINT:ACTION each, or `list` (Hooks.h).
  std::vector<std::string> hooks;
  AttentionWay attention = AttentionWay::Auto;
  AttentionOrder attentionOrder = AttentionOrder::Auto;
  /// full, gradients, activations or none: whether matmul calls apply activations, compute bias
  /// gradients and add residuals, where the target's library supports that; empty for full.
  std::string epilogues;
  /// on or off: whether matmuls of one tensor with several weights are one; empty for what suits
  /// the target and the layout.
  std::string mergeMatmuls;
  /// on or off: whether sampling keeps keys and values of earlier positions; empty for on.
  std::string kvCache;
  /// on or off: whether there are programs that generate text; empty for on.
  std::string sampling;
  /// short or full: whether loops over the lanes of rows compute only what they must; empty
  /// for short.
  std::string rowLoops;
  /// streamed or cached: whether results that are not read soon go past the caches; empty for
  /// streamed.
  std::string stores;
  /// kernel or library: who multiplies a matrix by a vector; empty for kernel.
  std::string dotProducts;
  /// once or library: who copies the right operands of matmuls into panels; empty for once.
  std::string panels;
  RecomputePolicy recompute = RecomputePolicy::None;
  /// For auto: the arena that there may be; empty for the memory limit.
  std::string recomputeBudget;
  /// What is replayed by the names of units and values; empty for no list.
  std::string recomputeFile;
  /// For auto, which chooses them.
  ReplayChoice replays;
  ParallelOptions parallel;
  /// auto, none, or the rows of logits that are there at one time; empty for auto where plans are
  /// made: with a memory limit, or of large logits.
  std::string lossChunk;
  /// early or late: whether a parameter is updated during backward, once its gradient is there;
  /// empty for early.
  std::string update;
  /// peak or graph: whether actions are reordered where that lowers the peak; empty for peak.
  std::string order;
  /// none, optimizer, activations or both with a comma: what lies in the host's memory and comes to the
  /// GPU when it is needed; empty for none.
  std::string offload;
  /// hidden or all: which activations; empty for hidden.
  std::string offloadActivations;
  /// Bytes at whose multiples rows of transient tensors begin, where that costs little;
  /// empty for what the target has.
  std::optional<int64_t> rowAlignment;
  /// Bytes, possibly with a unit; empty for none.
  std::string memoryLimit;
  /// Whether this only asks what a plan would take: a plan beyond the limit is no error then, and the IR is not
  /// verified behind phases, as that of the plan that is chosen will be.
  bool isTrial = false;
  /// A file for the plan as JSON, "-" to print it readably, empty for neither.
  std::string report;
  /// What -march= is given; empty for the processor of this machine.
  std::string cpu;
  std::string compiler = "c++";
  /// The CUDA compiler; as an option empty to look for one, then empty for none.
  std::string nvcc;
  /// A folder in which the generated sources stay.
  std::string keepSources;
  /// The folder with lib/braid and share/braid; empty to look around the program.
  std::string runtimeDir;
  /// Passes behind which the IR is printed, or `all`.
  std::vector<std::string> printIrAfter;
  bool printPipeline = false, verbose = false;

  bool offloadsState() const { return offload.starts_with("optimizer"); }
  bool offloadsActivations() const { return offload.ends_with("activations"); }
  bool offloads() const { return offloadsState() || offloadsActivations(); }
  /// Whether something may be replayed.
  bool recomputes() const { return recompute != RecomputePolicy::None || !recomputeFile.empty(); }
};

} // namespace braid

#endif // BRAID_LIB_DRIVER_OPTIONS_H
