//===- TensorBatches.cpp - rows of named tensors --------------------------===//

#include "data/TensorBatches.h"

#include "base/Error.h"
#include "base/NumberTypes.h"
#include "base/Philox.h"
#include "data/DataRows.h"
#include "data/TokenLayout.h"

#include <algorithm>
#include <string_view>

using namespace braid;

namespace {

bool isData(const br_io &io) { return !isScalarRole(io.role); }

const br_io &firstData(const br_program &program) {
  for (const br_io &io : inputsOf(program))
    if (isData(io) && io.rank > 0)
      return io;
  fail("program '", program.name, "' has no input to be filled from --data");
}

bool isTargetsOf(const br_loss &loss, const br_io &io) { return std::string_view(io.name) == loss.targets; }

} // namespace

// Returns the only data file. Refuses a text file, which would otherwise be reported as a damaged
// safetensors file.
static const std::string &tensorsOf(const BatchOptions &options, const br_program &program) {
  const std::string &path = onlyFile(options.data, "the model takes rows of tensors, all of which are in one file");
  const File file = File::openForReading(path);
  const std::string kind = kindOf(file);
  if (file.size() > 0 && !looksLikeSafetensors(file) && kind != "a file of an unknown kind")
    fail("'", path, "' is ", kind, ", but the model takes no tokens: give a safetensors file with rows of '",
         firstData(program).name, "' and of its other inputs");
  return path;
}

TensorBatches::TensorBatches(const Model &model, const BatchOptions &options, const br_program *training,
                             const br_program *evaluation)
    : model(model), options(options), training(training), file(tensorsOf(options, training ? *training : *evaluation)) {
  for (const br_program *program : {training, evaluation})
    if (program)
      checkProgram(*program);
  int64_t heldOut = static_cast<int64_t>(static_cast<double>(rows) * options.holdout);
  trainRows = rows - heldOut;
  if (training && trainRows < 1)
    fail("'", file.path(), "' has ", rows, " rows, none of which are left to train on; change --holdout");
  if (evaluation && heldOut < 1)
    fail("'", file.path(), "' has ", rows, " rows, of which --holdout ", options.holdout,
         " leaves none for evaluation");
  for (const br_io &io : inputsOf(training ? *training : *evaluation))
    if (isData(io))
      checkIndices(file, io);
}

void TensorBatches::checkProgram(const br_program &program) {
  for (const br_io &io : inputsOf(program)) {
    if (!isData(io))
      continue;
    const TensorEntry *entry = file.find(io.name);
    if (!entry)
      fail("'", file.path(), "' has no tensor '", io.name, "', an input of program '", program.name, "'");
    std::vector<int64_t> wanted(io.shape, io.shape + io.rank);
    std::vector<int64_t> given = entry->shape;
    bool fits = io.rank > 0 && given.size() == wanted.size() && given[0] >= 1;
    if (fits) {
      given[0] = wanted[0];
      fits = given == wanted;
    }
    if (!fits || !canRead(entry->dtype, io.dtype))
      fail("'", file.path(), "': tensor '", io.name, "' is ", entry->dtype, " of shape ", formatShape(entry->shape),
           "; the model takes rows of it as ", typeName(io.dtype), " of shape ", formatShape(wanted));
    for (int32_t dim = 1; dim < io.rank; ++dim)
      if (io.dims[dim] != 0)
        fail("input '", io.name, "' of program '", program.name, "' is sharded along dim ", dim,
             ", but --data fills whole rows; shard only the batch dim");
    if (rows >= 0 && entry->shape[0] != rows)
      fail("'", file.path(), "': tensor '", io.name, "' has ", entry->shape[0], " rows, but another input has ", rows);
    rows = entry->shape[0];
  }
  int64_t batch = firstData(program).shape[0];
  if (rows < batch && !options.fillsLastBatch)
    fail("'", file.path(), "' is too short: it has ", rows, " rows, but a batch of program '", program.name, "' has ",
         batch);
}

BatchSize TensorBatches::batchSize(const br_program &program) const {
  const br_io &io = firstData(program);
  InputBlock rows = inputBlock(model, io, 0);
  return {rows.count, io.shape[0] / rows.count};
}

RowOrder TensorBatches::trainingOrder(const br_program &program, int perStep) const {
  return {trainRows, firstData(program).shape[0] * perStep, model.canLackRows()};
}

RowOrder TensorBatches::evaluationOrder(const br_program &program) const {
  return {rows - trainRows, firstData(program).shape[0], model.canLackRows() || options.fillsLastBatch};
}

std::optional<int64_t> TensorBatches::trainingRow(const br_program &program, int64_t step, int perStep,
                                                  int64_t row) const {
  if (options.sequential)
    return trainingOrder(program, perStep).at(step - 1, row);
  return static_cast<int64_t>(boundedRandom(philoxAt(step, static_cast<uint32_t>(row), 0, options.seed), trainRows));
}

BatchCount TensorBatches::fillTraining(const br_program &program, int64_t step, int microbatch, int perStep) {
  const int64_t batch = firstData(program).shape[0], first = microbatch * batch;
  const int64_t rows =
      fillRows(program, 0, [&](int64_t row) { return trainingRow(program, step, perStep, first + row); });
  const br_io *io = model.rank().isFirst() ? targetsOf(program) : nullptr;
  targetsOfRows.assign(batch, 0);
  for (int64_t row = 0; row < batch; ++row)
    if (const std::optional<int64_t> from = trainingRow(program, step, perStep, first + row))
      targetsOfRows[row] = io ? counted(*io, *from) : 1;
  return countOf(batchSize(program), rows, targetsOfRows);
}

const br_io *TensorBatches::targetsOf(const br_program &program) const {
  const br_loss *loss = model.table().loss;
  for (const br_io &io : inputsOf(program))
    if (loss && isTargetsOf(*loss, io))
      return &io;
  return nullptr;
}

// Reads until it finds a target that counts, usually the first one.
bool TensorBatches::hasTrainingTargets() {
  const br_io *io = training ? targetsOf(*training) : nullptr;
  for (int64_t row = 0; row < trainRows; ++row)
    if (!io || counted(*io, row) > 0)
      return true;
  return false;
}

std::string TensorBatches::nonFinite(const br_program &program, int64_t step, int perStep) const {
  for (int64_t row = 0; row < firstData(program).shape[0] * perStep; ++row)
    for (const br_io &io : inputsOf(program))
      if (std::optional<int64_t> from = trainingRow(program, step, perStep, row); from && isData(io))
        if (std::string found = nonFiniteRow(file, io, *from); !found.empty())
          return found;
  return "";
}

int64_t TensorBatches::fillEvaluation(const br_program &program, int64_t index, int64_t) {
  RowOrder order = evaluationOrder(program);
  auto at = [&](int64_t globalRow) { return order.at(index, globalRow); };
  int64_t rows = fillRows(program, trainRows, at);
  const br_io *io = targetsOf(program);
  if (!io)
    return rows;
  int64_t sum = 0;
  for (int64_t row = 0; row < rows; ++row)
    sum += counted(*io, trainRows + *at(row));
  return sum;
}

template <class F> int64_t TensorBatches::fillRows(const br_program &program, int64_t begin, const F &at) {
  for (const br_io &io : inputsOf(program)) {
    if (!isData(io))
      continue;
    InputBlock block = inputBlock(model, io, 0);
    for (int64_t row = 0; row < block.count; ++row) {
      std::optional<int64_t> place = at(block.begin + row);
      fillRow(program, io, row, begin + place.value_or(0), place.has_value());
    }
  }
  int64_t rows = 0;
  for (int64_t row = 0; row < firstData(program).shape[0]; ++row)
    rows += at(row).has_value();
  return rows;
}

void TensorBatches::fillRow(const br_program &program, const br_io &io, int64_t row, int64_t from, bool isPresent) {
  const br_loss *loss = model.table().loss;
  int64_t elements = elementsOfRow(io);
  uint64_t bytes = elements * elementSize(io.dtype);
  std::byte *out = model.input<std::byte>(program, io) + row * bytes;
  if (!isPresent && loss && isTargetsOf(*loss, io)) {
    std::fill_n(reinterpret_cast<int32_t *>(out), elements, loss->ignored);
    return;
  }
  readRows(file, io, from, 1, out);
  checkIndices(file, io, from, 1, out);
}

int64_t TensorBatches::counted(const br_io &io, int64_t row) {
  targets.resize(elementsOfRow(io));
  readRows(file, io, row, 1, reinterpret_cast<std::byte *>(targets.data()));
  return static_cast<int64_t>(targets.size()) - std::count(targets.begin(), targets.end(), model.table().loss->ignored);
}
