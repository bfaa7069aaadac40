//===- Predict.cpp - outputs of a model for all rows ----------------------===//
//
// Runs the program `predict` on all rows of the data in order and writes its results to one file. Each
// result is one tensor; its first dim is the number of rows of the data. If the last batch is short, it is
// padded, and the outputs of the padding are dropped. Rows of tokens are windows, as in training: the last
// token of a file has no position, and in its last window the outputs after the tokens have no meaning.
//
//===----------------------------------------------------------------------===//

#include "base/Error.h"
#include "base/Format.h"
#include "checkpoint/Checkpoint.h"
#include "core/TensorPart.h"
#include "data/Batches.h"
#include "data/Fingerprint.h"
#include "train/Commands.h"
#include "train/ConfigCheck.h"
#include "train/RunOutputs.h"

#include <cstdio>

using namespace braid;

namespace {

const br_program &predictOf(const Model &model) {
  if (const br_program *program = findProgram(model.table(), "predict"))
    return *program;
  fail("the model has no output for `predict`: none of its graph's results is a tensor with tg.output = \"NAME\"; add "
       "the attribute to a result, and compile again");
}

// Returns the description of the result for all rows. Throws Error unless the first dim is the batch.
OutputTensor tensorOf(const br_io &io, int64_t batch, int64_t rows) {
  if (io.rank == 0 || io.shape[0] != batch || io.partial != 0)
    fail("the output '", io.role, "' has no row for each of the batch's ", batch, " in its first dim, which `predict` ",
         "writes; drop tg.output from outputs of another kind");
  OutputTensor tensor{io.role, io.dtype, {io.shape, io.shape + io.rank}};
  tensor.shape[0] = rows;
  return tensor;
}

// Returns the part of that result which a batch on this rank has; `first` is the first row of the batch.
TensorPart partOfBatch(const br_model &table, const br_io &io, int rank, int64_t first) {
  TensorPart part = partOf(table, io, rank);
  part.begin[0] += first;
  return part;
}

int runPredict(const br_model &table, const PredictOptions &options, const Rank &rank, int threads,
               RunOutputs &outputs) {
  if (rank.size != outputs.ranksHere())
    fail("`predict` puts the results of all ranks into one file, so they must be threads of one process, but ",
         rank.size, " ranks run in several; start it once, with --ranks ", rank.size);
  Model model(table, threads, rank);
  const br_program &program = predictOf(model);
  const bool isCheckpoint = !options.checkpoint.empty();
  const SavedTensors saved = openCheckpoint(isCheckpoint ? options.checkpoint : options.init, model.rank());
  if (rank.isFirst())
    warnOfOtherModel(table, saved.metadata(), saved.path());
  std::unique_ptr<BatchSource> batches =
      openBatches(model, {.data = options.data.find(), .holdout = 1, .fillsLastBatch = true}, nullptr, &program);
  if (isCheckpoint)
    restoreTensors(saved, model, Restore::ModelOnly);
  else
    importParameters(saved, model);

  const RowOrder order = batches->evaluationOrder(program);
  for (int64_t batch = 0; batch < order.batches(); ++batch) {
    batches->fillEvaluation(program, batch, order.batches());
    model.setKey(program, 1, 0, 0);
    model.setStep(program, 0);
    model.run(program);
    for (const br_io &io : resultsOf(program))
      model.onHost(io, Use::Read, [&](const std::byte *memory) {
        outputs.addRows(tensorOf(io, order.batch, order.rows), partOfBatch(table, io, rank.number, batch * order.batch),
                        memory);
      });
  }
  model.finish();
  if (outputs.finish(options.outputs))
    std::printf("%s %s predicted; the outputs are in %s\n", formatCount(order.rows).c_str(), batches->rowUnit(),
                options.outputs.c_str());
  return 0;
}

} // namespace

PreparedCommand braid::preparePredict(const br_model &table, const PredictOptions &options, RunOutputs &outputs) {
  checkWritable(options.outputs, options.data.find());
  StartFacts facts = {{"the command", "predict"}, {"--init", options.init.empty() ? "not given" : "given"}};
  if (const br_program *program = findProgram(table, "predict"); program && readsData(*program))
    facts.push_back({"the data", fingerprintOf(options.data.find())});
  return {facts, [&](const Rank &rank, int threads) { return runPredict(table, options, rank, threads, outputs); }};
}
