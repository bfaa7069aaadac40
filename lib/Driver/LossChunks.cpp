//===- LossChunks.cpp - what --loss-chunk stands for ----------------------===//

#include "lib/Driver/LossChunks.h"
#include "lib/Driver/OutputFile.h"
#include "lib/Driver/Trial.h"
#include "lib/Memory/Size.h"
#include "lib/Report/Report.h"
#include "lib/Schedule/Forward.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Memory/LossRows.h"

using namespace mlir;
using namespace braid;

/// More are not tried: each reads and writes the gradient of the weight once.
static constexpr int64_t kMostChunks = 64;

/// An arena that is larger by less is as small.
static constexpr double kAsSmall = 1.01;

int64_t braid::rowsOfLossChunk(const DriverOptions &options) {
  int64_t rows = 0;
  return StringRef(options.lossChunk).getAsInteger(10, rows) ? 0 : rows;
}

bool braid::choosesLossChunk(const DriverOptions &options) {
  bool isForLimit = options.lossChunk.empty() && !options.memoryLimit.empty() && options.emit >= Emit::Memory &&
                    options.parallel.compare.empty() && !options.printPipeline;
  return isForLimit || options.lossChunk == "auto";
}

llvm::Error braid::checkLossChunk(const DriverOptions &options) {
  if (options.lossChunk != "auto")
    return llvm::Error::success();
  if (options.emit < Emit::Memory)
    return makeError("--loss-chunk=auto needs memory plans, which --emit=tg, comm and exec do not make: name a number "
                     "of rows, or none");
  if (!options.parallel.compare.empty())
    return makeError("--compare with --loss-chunk=auto: compare with a number of rows, or none");
  if (options.printPipeline)
    return makeError("--print-pipeline with --loss-chunk=auto, which plans before it chooses: print a number of rows, "
                     "or none");
  return llvm::Error::success();
}

/// Of the loss that is trained; 0 if there is none that could be cut.
static int64_t rowsOf(ModuleOp module) {
  for (auto program : module.getOps<func::FuncOp>())
    if (!program.isExternal() && isTraining(program))
      for (LossOpInterface loss : lossesOf(program))
        return rowsOf(loss);
  return 0;
}

namespace {
struct Chunks {
  int64_t count, rows;
  Trial trial;
};
} // namespace

/// The fewest that keep the limit, or that are as small as any.
static const Chunks &choose(ArrayRef<Chunks> tried, std::optional<int64_t> limit) {
  auto bytes = [](const Chunks &chunks) { return chunks.trial.arenaBytes; };
  auto least = llvm::min_element(tried, [&](const Chunks &a, const Chunks &b) { return bytes(a) < bytes(b); });
  auto suits = [&](const Chunks &chunks) {
    return bytes(chunks) <= std::max<double>(limit.value_or(0), limit ? 0 : kAsSmall * bytes(*least));
  };
  auto found = llvm::find_if(tried, suits);
  return found == tried.end() ? *least : *found;
}

/// Plans the loss at once, then in twice as many chunks each time.
static LogicalResult tryChunks(ModuleOp module, DriverOptions options, StringRef behind, std::optional<int64_t> limit,
                               std::vector<Chunks> &tried) {
  if (options.recompute == RecomputePolicy::Auto) // which chooses later, from what chunks leave
    options.recompute = RecomputePolicy::None;
  int64_t rows = rowsOf(module);
  for (int64_t count = 1; count == 1 || (count <= kMostChunks && count <= rows); count *= 2) {
    int64_t ofChunk = count == 1 ? 0 : llvm::divideCeil(rows, count);
    options.lossChunk = count == 1 ? "none" : std::to_string(ofChunk);
    FailureOr<Trial> trial = tryPlan(module, options, behind);
    if (failed(trial))
      return failure();
    tried.push_back({count, ofChunk, *trial});
    if (limit && trial->arenaBytes <= *limit)
      break;
  }
  return success();
}

LogicalResult braid::chooseLossChunk(ModuleOp module, DriverOptions &options, StringRef behind) {
  bool isAsked = options.lossChunk == "auto";
  std::optional<int64_t> limit;
  if (!options.memoryLimit.empty())
    limit = *parseSize(options.memoryLimit);
  std::vector<Chunks> tried;
  LogicalResult isTried = failure();
  {
    // Who did not ask need not know that a loss has no rows.
    std::optional<ScopedDiagnosticHandler> quiet;
    if (!isAsked)
      quiet.emplace(module.getContext(), [](Diagnostic &) { return success(); });
    isTried = tryChunks(module, options, behind, limit, tried);
  }
  options.lossChunk = "none";
  if (failed(isTried))
    return success(!isAsked);
  const Chunks &chosen = choose(tried, limit), &whole = tried.front();
  if (chosen.count == 1)
    return success();
  options.lossChunk = std::to_string(chosen.rows);
  emitRemark(module.getLoc()) << "the loss is computed in " << chosen.count << " chunks of " << chosen.rows
                              << " rows of logits: the arena goes from " << formatSize(whole.trial.arenaBytes) << " to "
                              << formatSize(chosen.trial.arenaBytes) << ", the predicted time of a step from "
                              << formatSeconds(whole.trial.seconds) << " to " << formatSeconds(chosen.trial.seconds);
  return success();
}
