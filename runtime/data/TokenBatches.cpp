//===- TokenBatches.cpp - windows of text ---------------------------------===//

#include "data/TokenBatches.h"

#include "base/Error.h"
#include "base/Philox.h"

#include <algorithm>
#include <cstring>

using namespace braid;

namespace {

struct Shape {
  int64_t rows, length;
};

Shape shapeOf(const br_io &io) {
  if (io.rank != 2 || io.dtype != BR_I32)
    fail("input '", io.name, "' of role '", io.role,
         "' must be i32 of shape [batch, sequence] to be filled from a token "
         "file");
  return {io.shape[0], io.shape[1]};
}

Shape tokenShape(const br_program &program) {
  const br_io *tokens = findByRole(inputsOf(program), "tokens");
  if (!tokens)
    fail("program '", program.name, "' has no input of role 'tokens'");
  Shape shape = shapeOf(*tokens);
  const br_io *targets = findByRole(inputsOf(program), "targets");
  if (targets && (shapeOf(*targets).rows != shape.rows || shapeOf(*targets).length != shape.length))
    fail("program '", program.name, "': inputs '", tokens->name, "' and '", targets->name, "' differ in shape");
  return shape;
}

// Tokens and targets are the same ids: what the model can take as either.
int64_t vocabularyOf(const br_model &table, const br_program &program) {
  int64_t vocabulary = table.vocab_size;
  for (const char *role : {"tokens", "targets"})
    if (const br_io *io = findByRole(inputsOf(program), role); io && io->extent > 0)
      vocabulary = std::min(vocabulary, io->extent);
  return vocabulary;
}

void checkLength(const TokenFile &file, const char *part, int64_t available, const br_program *program) {
  if (!program)
    return;
  int64_t needed = tokenShape(*program).length + 1;
  if (available < needed)
    fail("the data file '", file.path(), "' is too short: its ", part, " has ", available, " of ", file.count(),
         " tokens, and one window needs ", needed, "; give more data, or change --holdout");
}

} // namespace

TokenBatches::TokenBatches(const Model &model, const BatchOptions &options, const br_program *training,
                           const br_program *evaluation)
    : model(model), options(options),
      file(options.path, vocabularyOf(model.table(), training ? *training : *evaluation)) {
  int64_t heldOut = static_cast<int64_t>(static_cast<double>(file.count()) * options.holdout);
  trainCount = file.count() - heldOut;
  checkLength(file, "training part", trainCount, training);
  checkLength(file, "held-out part", heldOut, evaluation);
  for (const br_program *program : {training, evaluation})
    if (program)
      tokens.resize(std::max<size_t>(tokens.size(), tokenShape(*program).length + 1));
  targets.resize(tokens.size());
}

BatchSize TokenBatches::batchSize(const br_program &program) const {
  Shape shape = tokenShape(program);
  InputBlock rows = inputBlock(model, *findByRole(inputsOf(program), "tokens"), 0);
  return {rows.count, shape.rows / rows.count, shape.length};
}

//===----------------------------------------------------------------------===//
// Windows in order
//===----------------------------------------------------------------------===//

// The last may be filled up where the loss can leave targets out.
int64_t TokenBatches::windowsOf(const br_program &program, int64_t tokens) const {
  int64_t length = tokenShape(program).length;
  return (tokens - 1 + (model.table().loss ? length - 1 : 0)) / length;
}

TokenBatches::Window TokenBatches::windowOf(const br_program &program, Part part, std::optional<int64_t> number) const {
  if (!number)
    return {part.begin, 0};
  int64_t length = tokenShape(program).length;
  int64_t first = part.begin + *number * length;
  return {first, std::min(length, part.end - 1 - first)};
}

RowOrder TokenBatches::trainingOrder(const br_program &program, int perStep) const {
  return {windowsOf(program, trainCount), tokenShape(program).rows * perStep, model.table().loss != nullptr};
}

RowOrder TokenBatches::evaluationOrder(const br_program &program) const {
  return {windowsOf(program, heldOutTokens()), tokenShape(program).rows, model.table().loss != nullptr};
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

int64_t TokenBatches::fillTraining(const br_program &program, int64_t step, int microbatch, int perStep) {
  Shape shape = tokenShape(program);
  RowOrder order = trainingOrder(program, perStep);
  return fillRows(program, [&](int64_t globalRow) -> Window {
    int64_t row = microbatch * shape.rows + globalRow;
    if (options.sequential)
      return windowOf(program, {0, trainCount}, order.at(step - 1, row));
    PhiloxWords words = philoxAt(step, static_cast<uint32_t>(row), 0, options.seed);
    auto first = static_cast<int64_t>(boundedRandom(words, trainCount - shape.length));
    return {first, shape.length};
  });
}

int64_t TokenBatches::fillEvaluation(const br_program &program, int64_t index, int64_t count) {
  RowOrder order = evaluationOrder(program);
  int64_t wanted = count * order.batch;
  auto at = [&](int64_t globalRow) {
    int64_t row = index * order.batch + globalRow;
    return windowOf(program, {trainCount, file.count()},
                    order.rows > wanted ? row * order.rows / wanted : order.at(index, globalRow));
  };
  fillRows(program, at);
  int64_t sum = 0;
  for (int64_t row = 0; row < order.batch; ++row)
    sum += counted(at(row));
  return sum;
}

template <class F> int64_t TokenBatches::fillRows(const br_program &program, const F &at) {
  InputBlock own = inputBlock(model, *findByRole(inputsOf(program), "tokens"), 0);
  int64_t sum = 0;
  for (int64_t row = 0; row < tokenShape(program).rows; ++row) {
    Window window = at(row);
    sum += window.targets;
    if (row >= own.begin && row < own.begin + own.count)
      fillRow(program, row - own.begin, window);
  }
  return sum;
}

// Tokens and targets may be sharded along the sequence, too: then a rank has its
// part of each window.
void TokenBatches::fillRow(const br_program &program, int64_t row, Window window) {
  std::fill(tokens.begin(), tokens.end(), 0);
  if (window.targets > 0)
    file.read(window.first, window.targets + 1, tokens.data());
  std::copy_n(tokens.begin() + 1, window.targets, targets.begin());
  if (const br_loss *loss = model.table().loss)
    std::fill(targets.begin() + window.targets, targets.end(), loss->ignored);
  for (const br_io &io : inputsOf(program)) {
    bool isTokens = std::string_view(io.role) == "tokens";
    if (!isTokens && std::string_view(io.role) != "targets")
      continue;
    InputBlock part = inputBlock(model, io, 1);
    std::memcpy(model.input<int32_t>(program, io) + row * part.count, (isTokens ? tokens : targets).data() + part.begin,
                part.count * sizeof(int32_t));
  }
}

int64_t TokenBatches::counted(Window window) {
  const br_loss *loss = model.table().loss;
  if (!loss || loss->ignored < 0 || loss->ignored >= model.table().vocab_size)
    return window.targets;
  if (window.targets == 0)
    return 0;
  file.read(window.first, window.targets + 1, tokens.data());
  return window.targets - std::count(tokens.begin() + 1, tokens.begin() + 1 + window.targets, loss->ignored);
}
