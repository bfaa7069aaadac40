//===- Evaluate.cpp - loss on the held-out part
//------------------------------===//

#include "core/Evaluate.h"

#include "core/Checkpoint.h"
#include "core/Commands.h"
#include "core/Error.h"
#include "core/Format.h"
#include "core/Plan.h"

#include <cstdio>

using namespace braid;

float braid::heldOutLoss(Model &model, const br_program &program,
                         BatchSource &batches, int64_t count, uint64_t seed) {
  const br_io *loss = findByRole(resultsOf(program), "loss");
  if (!loss)
    fail("program '", program.name, "' reports no result of role 'loss'");
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    batches.fillEvaluation(program, i, count);
    model.setKey(program, seed, 0, 0);
    model.setStep(program, 0);
    model.run(program);
    sum += *model.at<float>(*loss);
  }
  return static_cast<float>(sum / static_cast<double>(count));
}

int braid::runEval(const br_model &table, const EvalOptions &options,
                   const Rank &rank) {
  Model model(table, options.threads, rank);
  const br_program &program = model.program("eval");
  BatchOptions data{options.data.data, options.data.holdout, 1, false};
  std::unique_ptr<BatchSource> batches =
      openBatches(model, data, nullptr, &program);
  if (!options.checkpoint.empty())
    restoreTensors(openCheckpoint(options.checkpoint, model.rank()), model,
                   Restore::ModelOnly);
  else
    importParameters(openCheckpoint(options.init, model.rank()), model);

  float loss = heldOutLoss(model, program, *batches, options.batches, 1);
  if (!rank.isFirst())
    return 0;
  std::printf("held-out loss %s over %s batches\n", formatExact(loss).c_str(),
              formatCount(options.batches).c_str());
  return 0;
}
