//===- LossChunks.cpp - chooses the chunks of the loss --------------------===//

#include "compiler/Driver/LossChunks.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Driver/TargetOptions.h"
#include "compiler/Driver/Trial.h"
#include "compiler/Report/Report.h"
#include "lib/Memory/Size.h"
#include "lib/Schedule/Forward.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Memory/LossRows.h"

using namespace mlir;
using namespace braid;

/// Upper limit of chunks; each chunk reads and writes the weight gradient once.
static constexpr int64_t kMaxChunks = 64;

/// Arenas within 1% count as equal.
static constexpr double kArenaTolerance = 1.01;

/// By default, small logits are not chunked: the extra planning would cost more time than the chunks save memory.
static constexpr int64_t kSmallLogitsBytes = 16 << 20;
static constexpr double kSmallLogitsShareOfArena = 0.05;

/// Both are shares. The search starts with the chunk count whose logits take `kChunkShareOfArena` of the arena. It
/// takes fewer chunks if the relative increase of the step time exceeds `kMaxTimePerMemory` times the relative saving
/// of memory.
static constexpr double kChunkShareOfArena = 0.02;
static constexpr double kMaxTimePerMemory = 0.2;

bool braid::choosesLossChunk(const DriverOptions &options) {
  using Choice = LossChunk::Choice;
  bool isByDefault = options.emit >= Emit::Exec && !options.parallel.compare && !options.printPipeline;
  return options.lossChunk.choice == Choice::Auto || (options.lossChunk.choice == Choice::Default && isByDefault);
}

llvm::Error braid::checkLossChunk(const DriverOptions &options) {
  if (!options.lossChunk.isAuto())
    return llvm::Error::success();
  if (options.emit < Emit::Memory)
    return makeError("--loss-chunk=auto needs memory plans, which --emit=tg, comm and exec do not make: name a number "
                     "of rows, or none");
  if (options.parallel.compare)
    return makeError("--compare with --loss-chunk=auto: compare with a number of rows, or none");
  if (options.printPipeline)
    return makeError("--print-pipeline with --loss-chunk=auto, which plans before it chooses: print a number of rows, "
                     "or none");
  return llvm::Error::success();
}

/// Returns the training loss, which has the largest logits, or null if it cannot be split into chunks.
static LossOpInterface lossOf(ModuleOp module) {
  for (auto program : module.getOps<func::FuncOp>())
    if (!program.isExternal() && isTraining(program))
      for (LossOpInterface loss : lossesOf(program))
        return loss;
  return nullptr;
}

namespace {
/// Rows of a chunk, the number of chunks, and the cost of the plan.
struct Chunks {
  LossChunk chunk;
  int64_t count;
  PlanCost cost;
};

/// Plans of a module with different numbers of chunks.
class Trials {
public:
  Trials(ModuleOp module, const DriverOptions &options)
      : module(module), options(optionsOfTrial(options)), loss(lossOf(module)),
        recomputesLater(options.passes.recompute.policy == RecomputePolicy::Auto) {
    if (recomputesLater)
      this->options.passes.recompute.policy = RecomputePolicy::None;
  }

  /// Doubles the number of chunks until the plan keeps `limit` or the rest is small.
  LogicalResult doubleUntilFits(std::optional<int64_t> limit);
  /// Chooses the default for memory without a known size: as many chunks as make one small, or fewer that take less
  /// time.
  LogicalResult chooseByCost();
  bool hasSmallLogits() const { return logitsBytes() < kSmallLogitsBytes; }

  const Chunks &whole() const { return tried.front(); }
  /// Returns the fewest chunks that keep the limit, or else whose arena counts as equal to the smallest.
  FailureOr<Chunks> choose(std::optional<int64_t> limit);
  bool hasTried() const { return !tried.empty(); }

private:
  const Chunks &smallest() const;
  FailureOr<Chunks> chooseBesideReplays(int64_t limit);

  int64_t rows() const { return loss ? rowsOf(loss) : 0; }
  int64_t logitsBytes() const { return loss ? bytesOf(loss->getOperand(0).getType()) : 0; }
  FailureOr<Chunks> plan(int64_t count);

  ModuleOp module;
  DriverOptions options;
  LossOpInterface loss;
  /// Recomputation runs later and starts from the chosen chunks.
  bool recomputesLater;
  std::vector<Chunks> tried;
};
} // namespace

/// Returns whether the saved memory is worth the additional time.
static bool isWorthTheTime(const PlanCost &chunks, const PlanCost &whole) {
  double saved = 1 - double(chunks.arenaBytes) / whole.arenaBytes;
  return chunks.seconds / whole.seconds - 1 <= kMaxTimePerMemory * saved;
}

FailureOr<Chunks> Trials::plan(int64_t count) {
  int64_t rowsOfChunk = count == 1 ? 0 : llvm::divideCeil(rows(), count);
  options.lossChunk = {LossChunk::Choice::Rows, rowsOfChunk};
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<PlanCost> cost = planTrial(*copy, options, Phase::Decompose);
  if (failed(cost))
    return failure();
  return Chunks{options.lossChunk, count, *cost};
}

LogicalResult Trials::doubleUntilFits(std::optional<int64_t> limit) {
  for (int64_t count = 1; count == 1 || (count <= kMaxChunks && count <= rows()); count *= 2) {
    FailureOr<Chunks> chunks = plan(count);
    if (failed(chunks))
      return failure();
    tried.push_back(*chunks);
    int64_t arena = chunks->cost.arenaBytes;
    bool isRestSmall = count > 1 && logitsBytes() / count < (kArenaTolerance - 1) * arena;
    if (limit ? arena <= *limit : isRestSmall)
      break;
  }
  return success();
}

LogicalResult Trials::chooseByCost() {
  FailureOr<Chunks> whole = plan(1);
  if (failed(whole))
    return failure();
  tried.push_back(*whole);
  int64_t arena = whole->cost.arenaBytes;
  if (logitsBytes() < kSmallLogitsShareOfArena * arena)
    return success();
  int64_t bound = llvm::PowerOf2Ceil(std::ceil(logitsBytes() / (kChunkShareOfArena * arena)));
  for (int64_t count = std::min({bound, kMaxChunks, int64_t(llvm::bit_floor(uint64_t(rows())))}); count > 1;
       count /= 2) {
    FailureOr<Chunks> chunks = plan(count);
    if (failed(chunks))
      return failure();
    if (isWorthTheTime(chunks->cost, whole->cost)) {
      tried.push_back(*chunks);
      break;
    }
  }
  return success();
}

const Chunks &Trials::smallest() const {
  return *llvm::min_element(tried,
                            [](const Chunks &a, const Chunks &b) { return a.cost.arenaBytes < b.cost.arenaBytes; });
}

/// Chooses chunks that recomputation then complements, because chunks alone exceed the limit. Chunks must be worth
/// their time, unless replaying everything would still exceed the limit.
FailureOr<Chunks> Trials::chooseBesideReplays(int64_t limit) {
  Chunks chosen = whole();
  for (const Chunks &chunks : tried)
    if (isWorthTheTime(chunks.cost, whole().cost) && chunks.cost.arenaBytes < chosen.cost.arenaBytes)
      chosen = chunks;
  options.passes.recompute.policy = RecomputePolicy::Full;
  FailureOr<Chunks> full = plan(chosen.count);
  options.passes.recompute.policy = RecomputePolicy::None;
  if (failed(full))
    return failure();
  return full->cost.arenaBytes <= limit ? chosen : smallest();
}

FailureOr<Chunks> Trials::choose(std::optional<int64_t> limit) {
  double bound = limit ? *limit : kArenaTolerance * smallest().cost.arenaBytes;
  for (const Chunks &chunks : tried)
    if (chunks.cost.arenaBytes <= bound)
      return chunks;
  return recomputesLater ? chooseBesideReplays(*limit) : FailureOr<Chunks>(smallest());
}

/// Returns the GPU whose memory is the limit, or null if the user gave chunks or a memory limit.
static const GpuInfo *cardOf(const DriverOptions &options) {
  bool isGiven = options.lossChunk.isAuto() || !options.passes.plan.memoryLimit.empty();
  return isGiven ? nullptr : targetOf(options).gpu;
}

static std::string memoryOf(const GpuInfo &card) {
  return std::to_string(card.memoryBytes / 1'000'000'000) + " GB of the GPU (" + card.card.str() + ")";
}

FailureOr<LossChunk> braid::chooseLossChunk(ModuleOp module, const DriverOptions &options) {
  bool isAsked = options.lossChunk.isAuto();
  const GpuInfo *card = cardOf(options);
  std::optional<int64_t> limit = options.memoryLimit();
  if (!limit && card)
    limit = card->memoryBytes;
  Trials trials(module, options);
  bool isDefault = !isAsked && !options.memoryLimit();
  FailureOr<Chunks> chosen = failure();
  if (!isDefault || !trials.hasSmallLogits()) {
    // By default, a loss without rows is not an error.
    std::optional<ScopedDiagnosticHandler> quiet;
    if (!isAsked)
      quiet.emplace(module.getContext(), [](Diagnostic &) { return success(); });
    if (succeeded(isAsked || limit ? trials.doubleUntilFits(limit) : trials.chooseByCost()) && trials.hasTried())
      chosen = trials.choose(limit);
  }
  if (failed(chosen))
    return isAsked ? FailureOr<LossChunk>() : LossChunk{LossChunk::Choice::Rows};
  const PlanCost &before = trials.whole().cost, &after = chosen->cost;
  if (chosen->count == 1) {
    if (card && before.arenaBytes <= card->memoryBytes)
      emitRemark(module.getLoc()) << "the loss is computed in one chunk: the arena of " << formatSize(before.arenaBytes)
                                  << " fits the " << memoryOf(*card);
    return chosen->chunk;
  }
  InFlightDiagnostic remark = emitRemark(module.getLoc());
  remark << "the loss is computed in " << chosen->count << " chunks of " << chosen->chunk.rows
         << " rows of logits: the arena goes from " << formatSize(before.arenaBytes) << " to "
         << formatSize(after.arenaBytes) << ", the predicted time of a step from " << formatSeconds(before.seconds)
         << " to " << formatSeconds(after.seconds);
  if (card)
    remark << "; in one chunk, it does not fit the " << memoryOf(*card);
  return chosen->chunk;
}
