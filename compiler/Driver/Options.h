//===- Options.h - options of braidc ----------------------------*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_OPTIONS_H
#define BRAID_COMPILER_DRIVER_OPTIONS_H

#include "lib/Memory/Size.h"
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
enum class Emit { Tg, Comm, Exec, Memory, Cpp, Cu, Dir, Lib, Exe };
/// Whether a compiler runs on the generated sources.
inline bool compilesSources(Emit emit) { return emit >= Emit::Lib; }
template <>
inline constexpr cli::Word cli::words<Emit>[] = {
    {"tg", "programs of a step, in primitive ops"},
    {"comm", "with --mesh: programs of a rank with collectives"},
    {"exec", "kernels and library calls on values"},
    {"memory", "kernels and library calls on buffers placed in the arena"},
    {"cpp", "generated C++ sources, to a folder or standard output"},
    {"cu", "generated CUDA C++ sources of --target=cuda"},
    {"dir", "folder that builds with CMake and a C++ compiler, without LLVM"},
    {"lib", "shared library with the functions of braid/step.h, for a loop of your own"},
    {"exe", "training binary"}};

/// Lists of the optimizer; PassSettings has its other options.
struct OptimizerOptions {
  /// Given hyperparameters, each as "beta1=0.9".
  std::vector<std::string> hyperparameters;
  std::vector<std::string> decayExclude;
};

/// Dimension that the ranks along an axis of the mesh divide among themselves. Experts also divide the batch.
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
    {"zero", "every stage of --zero"},
    {"mesh", "every mesh of pp, dp, ep, cp and tp with the number of ranks in --mesh=8, and --zero=0, 1, 3"}};

/// Forms of data parallelism that neither ZeRO nor an axis chooses.
enum class Strategy { DataParallel };
template <>
inline constexpr cli::Word cli::words<Strategy>[] = {
    {"dataparallel",
     "the first rank keeps all state, sends parameters and batch to the others, and alone runs the update"}};

enum class Overlap { Full, None };
template <>
inline constexpr cli::Word cli::words<Overlap>[] = {
    {"full", "reorder compute so that actions independent of a collective run while it is in flight"},
    {"none", "wait for each collective at once"}};

/// Parallelism options.
struct ParallelOptions {
#define RANK_OPTION(TOPIC, TYPE, FIELD, INITIAL, ...) TYPE FIELD = INITIAL;
#include "compiler/Driver/Options.def"
  /// The parsed mesh; empty for one rank.
  std::vector<MeshAxis> mesh;
  /// Number of ranks for --compare=mesh.
  int64_t ranks = 0;
  /// Axes that no layout names, by their use.
  std::map<AxisUse, std::vector<std::string>> axesByUse;
  /// Axes of one rank that no layout names. Options may ask for them; nothing is sharded over them.
  std::vector<std::string> axesOfOne;
  /// Axes that shard weights, named by a layout or not.
  std::vector<std::string> tensorAxes;

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

/// Data in host memory that is copied to the GPU when needed.
enum class Offload { None, Optimizer, Activations, Both };
template <>
inline constexpr cli::Word cli::words<Offload>[] = {
    "none",
    {"optimizer", "moments and f32 masters of bf16 parameters: fetched for each update and written back"},
    {"activations", "activations kept for backward: copied to the host and back if compute hides the copies"},
    {"optimizer,activations", "both kinds of tensors"}};

/// Rows of logits that exist at one time.
struct LossChunk {
  /// Default: Auto when plans are made, with a memory limit or for large logits.
  enum class Choice { Default, Auto, Rows } choice = Choice::Default;
  int64_t rows = 0; ///< 0 for all.

  bool isAuto() const { return choice == Choice::Auto; }
};

struct DriverOptions {
#define OPTION(TOPIC, TYPE, FIELD, INITIAL, ...) TYPE FIELD = INITIAL;
#include "compiler/Driver/Options.def"
  /// Names of the given options, and these options with values, such as "--zero=3", for messages and reports.
  std::vector<std::string> given, words;
  /// Options of single passes. The target's name is `cuda:sm_90` on the command line; the phases set the fields that
  /// have no flag, and take the memory limit and the alignment of rows from those of the plan.
  PassSettings passes;
  OptimizerOptions optimizer;
  ParallelOptions parallel;
  /// Whether only the cost of a plan is asked for. A plan beyond the memory limit is then no error. The IR is not
  /// verified after phases, because the final plan will be.
  bool isTrial = false;

  bool isMixed() const { return precision == ElementType::BF16; }
  bool has(llvm::StringRef option) const { return llvm::is_contained(given, option); }
  bool offloadsState() const { return offload == Offload::Optimizer || offload == Offload::Both; }
  bool offloadsActivations() const { return offload == Offload::Activations || offload == Offload::Both; }
  bool offloads() const { return offload != Offload::None; }
  std::optional<int64_t> memoryLimit() const {
    return passes.plan.memoryLimit.empty() ? std::nullopt : parseSize(passes.plan.memoryLimit);
  }
  /// Whether any value may be replayed.
  bool recomputes() const {
    return passes.recompute.policy != RecomputePolicy::None || !passes.recompute.choicesFile.empty();
  }
};

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_OPTIONS_H
