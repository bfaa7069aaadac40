//===- TrainJob.cpp - a training job before its first step ----------------===//

#include "train/TrainJob.h"

#include "base/Error.h"
#include "base/Format.h"
#include "base/Message.h"
#include "comm/Bootstrap.h"
#include "core/Agree.h"
#include "core/Mesh.h"
#include "train/ConfigCheck.h"
#include "train/Evaluate.h"
#include "train/InitialValues.h"
#include "train/JobId.h"

#include <algorithm>
#include <cstdio>

using namespace braid;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

// Returns the number of microbatches; the command line may give it in tokens. Any number works, because
// gradients are scaled by the count of targets.
static int chooseMicrobatches(const br_model &table, const br_program &program, const BatchSource &batches,
                              int64_t wantedTokens) {
  const int compiled = std::max(1, table.accumulate);
  if (wantedTokens == 0)
    return compiled;
  const int64_t each = batches.batchSize(program).tokens(), wanted = wantedTokens / each;
  if (wantedTokens % each != 0)
    fail("--batch-tokens=", wantedTokens, " is not a multiple of the ", each, " ", batches.unit(),
         " that all ranks together take in a microbatch");
  if (wanted > 1 && table.accumulate <= 1)
    fail("--batch-tokens=", wantedTokens, " takes ", wanted, " microbatches of ", each, " ", batches.unit(),
         ", but the model was compiled for one per step; compile it with --accumulate=2 or more");
  if (table.n_cells > 0 && wanted != compiled)
    fail("--batch-tokens=", wantedTokens, " takes ", wanted,
         " microbatches a step, but the table of the pipeline is for ", compiled,
         "; compile it with another --accumulate");
  if (findByRole(resultsOf(program), "grad_sq_local") && wanted != compiled)
    fail("--batch-tokens=", wantedTokens, " takes ", wanted,
         " microbatches a step, but the model measures the noise of gradients over ", compiled,
         "; compile it with another --accumulate");
  return static_cast<int>(std::min<int64_t>(wanted, INT32_MAX));
}

TrainJob::TrainJob(const br_model &table, const TrainOptions &options, TrainStart start, const Rank &rank, int threads)
    : lock(std::move(start.lock)), saved(std::move(start.saved)), resumedFrom(saved ? saved->path() : ""), table(table),
      state(std::move(start.state)), model(table, threads, rank), runs(model), train(runs.train()),
      batched(runs.batched()), eval(options.evalEvery > 0 ? &model.program("eval") : nullptr),
      batches(openBatches(model,
                          {options.data.find(), state.holdout, state.batchSeed, state.batchOrder == "sequential"},
                          &batched, eval)),
      microbatches(chooseMicrobatches(table, batched, *batches, options.batchTokens)),
      hasTargets(!rank.isFirst() || batches->hasTrainingTargets()), logs(std::move(start.logs)),
      changes(std::move(start.changes)) {
  noteBatch();
  nameJob(options);
  checkData(options);
  loadTensors(options);
  checkCopiesAreEqual(model);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

// Warns once, before the first step, of data without targets and of rows that no pass over the data reads.
void TrainJob::checkData(const TrainOptions &options) const {
  if (!hasTargets)
    std::fprintf(stderr,
                 "warning: the training part has no target that the loss counts: all are %d, the ignored index, so the "
                 "loss is 0 and nothing is learned; check the data's mask, and whether --seq leaves room for answers\n",
                 table.loss->ignored);
  if (state.batchOrder == "sequential") {
    std::string leftOut =
        rowsLeftOut(batches->trainingOrder(batched, microbatches), "training part", batches->rowUnit());
    if (!leftOut.empty() && model.rank().isFirst())
      warn(leftOut);
  }
  if (eval)
    checkHeldOut(model, *eval, *batches, options.evalBatches);
}

//===----------------------------------------------------------------------===//
// The start
//===----------------------------------------------------------------------===//

// Gives the job an id: checkpoints carry it, and the lock names its holder.
void TrainJob::nameJob(const TrainOptions &options) {
  if (options.checkpoint.empty())
    return;
  state.id = agreeOnJobId(model, state.id);
  logs.job = state.id;
  allOrNothing(model, [&] {
    if (!lock)
      return;
    lock->recordJob(state.id);
    // The table lets `sample` print text from these checkpoints.
    if (auto table = batches->tokenTable())
      table->write(options.checkpoint + "/" + kTokenTableName);
  });
}

// Notes a change of the batch size, because a learning rate suits one batch size.
void TrainJob::noteBatch() {
  const int64_t tokens = batches->batchSize(batched).tokens() * microbatches;
  if (saved && state.batchTokens > 0 && state.batchTokens != tokens)
    changes.push_back(concat("a step takes ", formatCount(tokens), " ", batches->unit(), ", but took ",
                             formatCount(state.batchTokens), " when the checkpoint was saved"));
  state.batchTokens = tokens;
}

void TrainJob::loadTensors(const TrainOptions &options) {
  if (saved) {
    restoreTensors(*saved, model, Restore::Everything);
    if (model.rank().isFirst())
      std::printf("resumed from %s: step %s, loss %.4f\n", saved->path().c_str(), formatCount(state.step).c_str(),
                  state.lastLoss);
    for (const std::string &change : model.rank().isFirst() ? changes : std::vector<std::string>())
      std::printf("%s\n", change.c_str());
    saved.reset();
    return;
  }
  initialize(model, state.seed);
  if (options.init.empty())
    return;
  const SavedTensors weights = openCheckpoint(options.init, model.rank());
  if (model.rank().isFirst())
    warnOfOtherModel(table, weights.metadata(), weights.path());
  importParameters(weights, model);
}

void TrainJob::announce() const {
  const Rank &rank = model.rank();
  if (!rank.isFirst())
    return;
  uint64_t peak = reportedPeak(table), arena = model.arenaBytes();
  std::string ranks = rank.size > 1 ? concat(rank.size, " ranks over ", transportOf(rank), ", each with ") : "";
  std::printf("model %s, %s%d threads and an arena of %s\n", table.name, ranks.c_str(), model.threads(),
              formatBytes(arena).c_str());
  std::printf("reported peak %s bytes %s allocated arena %s bytes\n", formatCount(peak).c_str(),
              peak == arena ? "==" : "!=", formatCount(arena).c_str());
  if (const uint64_t host = model.hostBytes()) {
    const uint64_t reported = reportedHostBytes(table);
    std::printf("reported %s bytes %s pinned %s bytes of the host\n", formatCount(reported).c_str(),
                reported == host ? "==" : "!=", formatCount(host).c_str());
  }
  for (const br_model *other = table.others; other; other = other->others)
    std::printf("of these, ranks with %s: allocated arena %s bytes (%s)\n", nameOfRanks(*other).c_str(),
                formatCount(other->arena_bytes).c_str(), formatBytes(other->arena_bytes).c_str());
  BatchSize size = batches->batchSize(batched);
  std::string length = size.length > 1 ? concat(" x ", size.length) : "";
  std::printf("%s %s a step = %lld%s x %d microbatches x %lld ranks\n",
              formatCount(size.tokens() * microbatches).c_str(), batches->unit(), static_cast<long long>(size.rows),
              length.c_str(), microbatches, static_cast<long long>(size.readers));
  for (const std::string &remark : model.remarks())
    std::printf("%s\n", remark.c_str());
  for (const std::string &warning : model.warnings())
    warn(warning);
  std::fflush(stdout);
}
