//===- Evaluate.cpp - loss on held-out data -------------------------------===//

#include "train/Evaluate.h"

#include "base/Error.h"
#include "base/Format.h"
#include "base/Message.h"
#include "checkpoint/Checkpoint.h"
#include "data/Fingerprint.h"
#include "train/Commands.h"
#include "train/ConfigCheck.h"

#include <algorithm>
#include <cstdio>

using namespace braid;

static std::vector<const br_io *> countedBy(const br_program &program) {
  std::vector<const br_io *> counted;
  for (const br_io &io : resultsOf(program))
    if (io.rank == 0 && io.dtype == BR_F32 && std::string_view(io.role) != "loss")
      counted.push_back(&io);
  return counted;
}

// Each batch is weighted by its tokens. A mean loss is already divided by them; a sum is divided here.
HeldOutLoss braid::heldOutLoss(Model &model, const br_program &program, BatchSource &batches, int64_t wanted,
                               uint64_t seed) {
  const br_io &loss = lossOf(program);
  const br_loss *known = model.table().loss;
  bool isSum = known && known->reduction == BR_SUM;
  int64_t count = std::min(wanted, batches.evaluationOrder(program).batches());
  double sum = 0;
  int64_t counted = 0;
  std::vector<std::pair<std::string, double>> outputs;
  const std::vector<const br_io *> others = countedBy(program);
  for (const br_io *io : others)
    outputs.emplace_back(io->role, 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t tokens = batches.fillEvaluation(program, i, count);
    model.setKey(program, seed, 0, 0);
    model.setStep(program, 0);
    model.run(program);
    sum += model.result<float>(program, loss) * (isSum ? 1.0 : static_cast<double>(tokens));
    counted += tokens;
    for (size_t k = 0; k < others.size(); ++k)
      outputs[k].second += model.result<float>(program, *others[k]);
  }
  if (counted == 0)
    fail("the held-out part has no target that the loss counts: all are ", known->ignored, ", the ignored index");
  return {static_cast<float>(sum / static_cast<double>(counted)), count, counted, std::move(outputs)};
}

void braid::checkHeldOut(const Model &model, const br_program &program, const BatchSource &batches, int64_t wanted) {
  RowOrder order = batches.evaluationOrder(program);
  std::string leftOut = rowsLeftOut(order, "held-out part", batches.rowUnit());
  if (!leftOut.empty() && wanted >= order.batches() && model.rank().isFirst())
    warn(leftOut);
}

static int runEval(const br_model &table, const EvalOptions &options, const Rank &rank, int threads) {
  Model model(table, threads, rank);
  const br_program &program = model.program("eval");
  const bool isCheckpoint = !options.checkpoint.empty();
  const SavedTensors saved = openCheckpoint(isCheckpoint ? options.checkpoint : options.init, model.rank());
  if (rank.isFirst())
    warnOfOtherModel(table, saved.metadata(), saved.path());
  // The default holdout is the checkpoint's: rows that it was trained on are not held out.
  const double holdout =
      options.data.holdout.value_or(parseHoldout(saved.metadata(), saved.path()).value_or(JobState().holdout));
  std::unique_ptr<BatchSource> batches =
      openBatches(model, {options.data.find(), holdout, 1, false}, nullptr, &program);
  checkHeldOut(model, program, *batches, options.batches);
  if (isCheckpoint)
    restoreTensors(saved, model, Restore::ModelOnly);
  else
    importParameters(saved, model);

  HeldOutLoss heldOut = heldOutLoss(model, program, *batches, options.batches, 1);
  model.finish();
  if (!rank.isFirst())
    return 0;
  std::string outputs;
  for (const auto &[name, sum] : heldOut.outputs)
    outputs += concat("; ", name, " ", formatExact(static_cast<float>(sum)));
  std::printf("held-out loss %s over %s batches, %s %s%s\n", formatExact(heldOut.loss).c_str(),
              formatCount(heldOut.batches).c_str(), formatCount(heldOut.counted).c_str(), batches->unit(),
              outputs.c_str());
  return 0;
}

PreparedCommand braid::prepareEval(const br_model &table, const EvalOptions &options) {
  StartFacts facts = {
      {"the command", "eval"},
      {"--eval-batches", std::to_string(options.batches)},
      {"--holdout", options.data.holdout ? formatExact(*options.data.holdout) : "that of the checkpoint"},
      {"--init", options.init.empty() ? "not given" : "given"}};
  // Ranks that read different data would run different numbers of batches.
  if (const br_program *eval = findProgram(table, "eval"); eval && readsData(*eval))
    facts.push_back({"the data", fingerprintOf(options.data.find())});
  return {facts, [&](const Rank &rank, int threads) { return runEval(table, options, rank, threads); }};
}
