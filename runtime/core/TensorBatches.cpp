//===- TensorBatches.cpp - rows of named tensors
//-----------------------------===//

#include "core/TensorBatches.h"

#include "core/Error.h"
#include "core/NumberTypes.h"
#include "core/Philox.h"

using namespace braid;

namespace {

bool isData(const br_io &io) { return !isScalarRole(io.role); }

const br_io &firstData(const br_program &program) {
  for (const br_io &io : inputsOf(program))
    if (isData(io) && io.rank > 0)
      return io;
  fail("program '", program.name, "' has no input to be filled from --data");
}

} // namespace

TensorBatches::TensorBatches(const Model &model, const BatchOptions &options,
                             const br_program *training,
                             const br_program *evaluation)
    : model(model), options(options), file(options.path) {
  for (const br_program *program : {training, evaluation})
    if (program)
      checkProgram(*program);
  int64_t heldOut =
      static_cast<int64_t>(static_cast<double>(rows) * options.holdout);
  trainRows = rows - heldOut;
  if (training && trainRows < 1)
    fail("'", options.path, "' has ", rows,
         " rows, none of which are left to train on; "
         "change --holdout");
  if (evaluation && heldOut < 1)
    fail("'", options.path, "' has ", rows, " rows, of which --holdout ",
         options.holdout, " leaves none for evaluation");
}

void TensorBatches::checkProgram(const br_program &program) {
  for (const br_io &io : inputsOf(program)) {
    if (!isData(io))
      continue;
    const TensorEntry *entry = file.find(io.name);
    if (!entry)
      fail("'", file.path(), "' has no tensor '", io.name,
           "', an input of program '", program.name, "'");
    std::vector<int64_t> wanted(io.shape, io.shape + io.rank);
    std::vector<int64_t> given = entry->shape;
    bool fits = io.rank > 0 && given.size() == wanted.size() && given[0] >= 1;
    if (fits) {
      given[0] = wanted[0];
      fits = given == wanted;
    }
    if (!fits || entry->dtype != typeName(io.dtype))
      fail("'", file.path(), "': tensor '", io.name, "' is ", entry->dtype,
           " of shape ", formatShape(entry->shape),
           "; the model takes rows of it as ", typeName(io.dtype), " of shape ",
           formatShape(wanted));
    for (int32_t dim = 1; dim < io.rank; ++dim)
      if (io.dims[dim] != 0)
        fail("input '", io.name, "' of program '", program.name,
             "' is cut along dim ", dim,
             ", but --data fills whole rows; shard the batch alone");
    if (rows >= 0 && entry->shape[0] != rows)
      fail("'", file.path(), "': tensor '", io.name, "' has ", entry->shape[0],
           " rows, another input has ", rows);
    rows = entry->shape[0];
  }
  int64_t batch = firstData(program).shape[0];
  if (rows < batch)
    fail("'", file.path(), "' is too short: it has ", rows,
         " rows, a batch of program '", program.name, "' takes ", batch);
}

BatchSize TensorBatches::batchSize(const br_program &program) const {
  const br_io &io = firstData(program);
  InputBlock rows = inputBlock(model, io, 0);
  return {rows.count, io.shape[0] / rows.count};
}

void TensorBatches::fillTraining(const br_program &program, int64_t step,
                                 int microbatch, int perStep) {
  int64_t batch = firstData(program).shape[0];
  fillRows(program, [&](int64_t globalRow) {
    int64_t row = microbatch * batch + globalRow;
    if (options.sequential)
      return ((step - 1) * perStep * batch + row) % trainRows;
    return static_cast<int64_t>(boundedRandom(
        philoxAt(step, static_cast<uint32_t>(row), 0, options.seed),
        trainRows));
  });
}

void TensorBatches::fillEvaluation(const br_program &program, int64_t index,
                                   int64_t) {
  int64_t batch = firstData(program).shape[0];
  fillRows(program, [&](int64_t globalRow) {
    return trainRows + (index * batch + globalRow) % (rows - trainRows);
  });
}

template <class F>
void TensorBatches::fillRows(const br_program &program, const F &from) {
  for (const br_io &io : inputsOf(program)) {
    if (!isData(io))
      continue;
    InputBlock block = inputBlock(model, io, 0);
    uint64_t bytes = elementSize(io.dtype);
    for (int32_t i = 1; i < io.rank; ++i)
      bytes *= io.shape[i];
    for (int64_t row = 0; row < block.count; ++row)
      file.read(*file.find(io.name), from(block.begin + row) * bytes,
                model.at<std::byte>(io) + row * bytes, bytes);
  }
}
