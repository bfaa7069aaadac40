//===- Options.h - options of braidc ----------------------------*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_OPTIONS_H
#define BRAID_COMPILER_DRIVER_OPTIONS_H

#include "passes/Pipelines/Pipelines.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace braid {

/// Outputs of the compiler, in order of its levels.
enum class Emit { Tg, Comm, Exec, Memory, Cpp, Cu, Dir, Exe };
template <>
inline constexpr cli::Word cli::words<Emit>[] = {
    {"tg", "the programs of a step, in primitives"},
    {"comm", "with --mesh: the programs of a rank, with their collectives"},
    {"exec", "their kernels and library calls, on values"},
    {"memory", "the same with every buffer placed in the arena"},
    {"cpp", "the generated C++ sources, to a folder or standard output"},
    {"cu", "the same of --target=cuda, CUDA C++"},
    {"dir", "a folder that builds with CMake and a compiler, without LLVM"},
    {"exe", "the training binary"}};

/// Lists of the optimizer; PassSettings has its other options.
struct OptimizerOptions {
  /// Given hyperparameters, each as "beta1=0.9".
  std::vector<std::string> hyperparameters;
  std::vector<std::string> decayExclude;
};

/// What the ranks along an axis of the mesh divide among themselves. Ranks along Experts divide the batch, too.
enum class AxisUse { Batch, Experts, Sequence, Weights, Stages };

/// Names of axes that need no layout.
inline constexpr llvm::StringLiteral kBatchAxes[] = {"dp", "replica", "shard"}, kExpertAxis = "ep", kContextAxis = "cp",
                                     kTensorAxis = "tp", kStageAxis = "pp";
struct AxisName {
  llvm::StringLiteral name;
  AxisUse use;
  /// Sets the axes of this use in the options of the passes that choose layouts.
  void (*set)(PassSettings &passes, llvm::ArrayRef<std::string> axes) = nullptr;
};
/// Axes that --compare=mesh tries, in the order of a mesh: neighbouring ranks share weights; stages, which communicate
/// least, are far apart.
inline constexpr AxisName kAxes[] = {
    {kStageAxis, AxisUse::Stages, [](auto &passes, auto axes) { passes.context.stageAxes = axes; }},
    {kBatchAxes[0], AxisUse::Batch},
    {kExpertAxis, AxisUse::Experts, [](auto &passes, auto axes) { passes.experts.axes = axes; }},
    {kContextAxis, AxisUse::Sequence,
     [](auto &passes, auto axes) { passes.context.axes = passes.tensor.sequenceAxes = axes; }},
    {kTensorAxis, AxisUse::Weights, [](auto &passes, auto axes) { passes.context.otherHeadAxes = axes; }}};

struct MeshAxis {
  std::string name;
  int64_t size;
};

/// Plans to compare: every stage of ZeRO, or every mesh of as many ranks.
enum class Compared { Zero, Mesh };
template <>
inline constexpr cli::Word cli::words<Compared>[] = {
    {"zero", "all stages of --zero"},
    {"mesh", "all meshes of pp, dp, ep, cp and tp that have as many ranks as --mesh=8 says, and --zero=0, 1, 3"}};

/// Forms of data parallelism that neither ZeRO nor an axis chooses.
enum class Strategy { DataParallel };
template <>
inline constexpr cli::Word cli::words<Strategy>[] = {
    {"dataparallel", "the first rank holds all, sends parameters and batch and updates alone"}};

enum class Overlap { Full, InOrder, None };
template <>
inline constexpr cli::Word cli::words<Overlap>[] = {
    {"full", "what does not depend on a collective is computed while that is on its way"},
    {"in-order", "computing keeps its order"},
    {"none", "each collective is waited for at once"}};

/// Parallelism options.
struct ParallelOptions {
  /// The mesh as the user wrote it, `dp=4,tp=2`, and parsed; empty for one rank.
  std::string meshText;
  std::vector<MeshAxis> mesh;
  std::optional<int64_t> zero;
  /// Plans and compares, on `ranks` ranks, instead of compiling one program.
  std::optional<Compared> compare;
  int64_t ranks = 0;
  /// Strategy instead of that of `zero`, if any.
  std::optional<Strategy> strategy;
  /// File name of a layout for `comm-annotate`.
  std::string layout;
  /// Axes that no layout names, by their use.
  std::map<AxisUse, std::vector<std::string>> axesByUse;
  /// Axes of one rank that no layout names. Options may ask for them; nothing is sharded over them.
  std::vector<std::string> axesOfOne;
  /// Axes that shard weights, named by a layout or not.
  std::vector<std::string> tensorAxes;
  /// `ep:dp,cp`: the existing axes dp and cp together shard experts, too.
  std::string fold;
  bool noiseScale = false;
  CollectiveAlgorithm collectives = CollectiveAlgorithm::Library;
  Overlap overlap = Overlap::Full;
  /// Number of chunks of rows whose collectives over `tensorAxes` overlap with the matmuls of the others, 0 for the
  /// fastest number, or none.
  std::optional<int64_t> tpOverlap;
  /// Transports of the target that the binary can use; empty for all that are available.
  std::vector<std::string> transports;

  bool isParallel() const { return !mesh.empty(); }
  std::vector<std::string> &along(AxisUse use) { return axesByUse[use]; }
  llvm::ArrayRef<std::string> along(AxisUse use) const {
    auto axes = axesByUse.find(use);
    return axes == axesByUse.end() ? llvm::ArrayRef<std::string>() : llvm::ArrayRef(axes->second);
  }
  /// Whether an axis has another use than these.
  bool hasUseBeside(std::initializer_list<AxisUse> uses) const {
    return llvm::any_of(axesByUse,
                        [&](const auto &it) { return !it.second.empty() && !llvm::is_contained(uses, it.first); });
  }
  bool hasStages() const { return !along(AxisUse::Stages).empty(); }
  /// Whether layouts are chosen for axes without a sharding annotation.
  bool choosesLayout() const { return hasUseBeside({AxisUse::Batch, AxisUse::Stages}); }
  /// Whether ranks share weights in other shards than flat ranges.
  bool shardsWeights() const {
    return !layout.empty() || hasUseBeside({AxisUse::Batch, AxisUse::Stages, AxisUse::Sequence});
  }
  bool decomposesCollectives() const { return collectives != CollectiveAlgorithm::Library; }
};

/// Epilogues of matmul calls, if the target's library has them.
enum class Epilogues { Full, Gradients, Activations, None };
template <>
inline constexpr cli::Word cli::words<Epilogues>[] = {{"full", "activations, bias gradients and residual sums"},
                                                      {"gradients", "activations and bias gradients"},
                                                      "activations",
                                                      {"none", "all are kernels"}};

/// Data in host memory that is copied to the GPU when needed.
enum class Offload { None, Optimizer, Activations, Both };
template <>
inline constexpr cli::Word cli::words<Offload>[] = {
    "none",
    {"optimizer", "moments, and f32 masters of bf16 parameters: fetched for each update and written back"},
    {"activations", "what forward makes and backward reads: copied there and back, where that is hidden"},
    {"optimizer,activations", "both"}};

/// Rows of logits that exist at one time.
struct LossChunk {
  /// Default: Auto when plans are made, with a memory limit or for large logits.
  enum class Choice { Default, Auto, Rows } choice = Choice::Default;
  int64_t rows = 0; ///< 0 for all.

  bool isAuto() const { return choice == Choice::Auto; }
};

struct DriverOptions {
  /// Names of the given options, and these options with values, such as "--zero=3", for messages and reports.
  std::vector<std::string> given, words;
  std::string input, output;
  Emit emit = Emit::Exe;
  /// Options of single passes. The target's name is `cuda:sm_90` on the command line; the phases set the fields that
  /// have no flag, and take the memory limit and the alignment of rows from those of the plan.
  PassSettings passes;
  int64_t accumulate = 1;
  OptimizerOptions optimizer;
  /// Element type in which the model computes.
  ElementType precision = ElementType::F32;
  /// Hooks as POINT:ACTION, or `list` (Hooks.h).
  std::vector<std::string> hooks;
  /// Optional passes to leave out.
  std::vector<std::string> without;
  Epilogues epilogues = Epilogues::Full;
  /// Whether matmuls of one tensor with several weights are merged where they are not by default.
  bool mergeMatmuls = false;
  /// Whether programs for text generation are built.
  bool sampling = true;
  /// Largest arena for --recompute=auto; empty for the memory limit.
  std::string recomputeBudget;
  ParallelOptions parallel;
  LossChunk lossChunk;
  Offload offload = Offload::None;
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

  bool isMixed() const { return precision == ElementType::BF16; }
  bool has(llvm::StringRef option) const { return llvm::is_contained(given, option); }
  bool offloadsState() const { return offload == Offload::Optimizer || offload == Offload::Both; }
  bool offloadsActivations() const { return offload == Offload::Activations || offload == Offload::Both; }
  bool offloads() const { return offload != Offload::None; }
  /// Whether any value may be replayed.
  bool recomputes() const {
    return passes.recompute.policy != RecomputePolicy::None || !passes.recompute.choicesFile.empty();
  }
};

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_OPTIONS_H
