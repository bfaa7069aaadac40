//===- Batches.cpp - where the inputs of a program come from --------------===//

#include "data/Batches.h"

#include "base/Error.h"
#include "core/Mesh.h"
#include "data/BroadcastBatches.h"
#include "data/TensorBatches.h"
#include "data/TokenBatches.h"

using namespace braid;

InputBlock braid::inputBlock(const Model &model, const br_io &io, int dim) {
  GroupPlace place = placeInGroup(model.table(), io.dims[dim], model.rank().number);
  if (io.flat != 0 || io.shape[dim] % place.size != 0)
    fail("the compiled model is broken: input '", io.name,
         "' is sharded in ranges that are not equal blocks of rows; "
         "compile it again");
  int64_t count = io.shape[dim] / place.size;
  return {place.index * count, count};
}

std::string braid::rowsLeftOut(const RowOrder &order, const char *part, const char *unit) {
  constexpr const char *why = "the model's loss counts every row of a batch";
  if (order.batches() == 0)
    fail("the ", part, " has ", order.rows, " ", unit, ", fewer than the ", order.batch, " of a batch, and ", why,
         "; give more data, or change --holdout");
  int64_t leftOut = order.canBeShort ? 0 : order.rows % order.batch;
  if (leftOut == 0)
    return "";
  return concat("the last ", leftOut, " of ", order.rows, " ", unit, " of the ", part,
                " are left out, being fewer than the ", order.batch, " of a batch: ", why);
}

std::unique_ptr<BatchSource> braid::openBatches(Model &model, const BatchOptions &options, const br_program *training,
                                                const br_program *evaluation) {
  const br_program *any = training ? training : evaluation;
  auto open = [&]() -> std::unique_ptr<BatchSource> {
    if (findByRole(inputsOf(*any), "tokens"))
      return std::make_unique<TokenBatches>(model, options, training, evaluation);
    return std::make_unique<TensorBatches>(model, options, training, evaluation);
  };
  return isOfAllRanks(model.table()) ? open() : openOrReceiveSizes(model, training, evaluation, open);
}
