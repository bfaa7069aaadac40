//===- TokenBatches.cpp - windows of text
//------------------------------------===//

#include "core/TokenBatches.h"

#include "core/Error.h"
#include "core/Philox.h"

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
  if (targets && (shapeOf(*targets).rows != shape.rows ||
                  shapeOf(*targets).length != shape.length))
    fail("program '", program.name, "': inputs '", tokens->name, "' and '",
         targets->name, "' differ in shape");
  return shape;
}

void checkLength(const TokenFile &file, const char *part, int64_t available,
                 const br_program *program) {
  if (!program)
    return;
  int64_t needed = tokenShape(*program).length + 1;
  if (available < needed)
    fail("the data file '", file.path(), "' is too short: its ", part, " has ",
         available, " of ", file.count(), " tokens, and one window needs ",
         needed, "; give more data, or change --holdout");
}

} // namespace

TokenBatches::TokenBatches(const Model &model, const BatchOptions &options,
                           const br_program *training,
                           const br_program *evaluation)
    : model(model), options(options),
      file(options.path, model.table().vocab_size) {
  int64_t heldOut =
      static_cast<int64_t>(static_cast<double>(file.count()) * options.holdout);
  trainCount = file.count() - heldOut;
  checkLength(file, "training part", trainCount, training);
  checkLength(file, "held-out part", heldOut, evaluation);
  for (const br_program *program : {training, evaluation})
    if (program)
      window.resize(
          std::max<size_t>(window.size(), tokenShape(*program).length + 1));
}

BatchSize TokenBatches::batchSize(const br_program &program) const {
  Shape shape = tokenShape(program);
  InputBlock rows =
      inputBlock(model, *findByRole(inputsOf(program), "tokens"), 0);
  return {rows.count, shape.rows / rows.count, shape.length};
}

void TokenBatches::fillTraining(const br_program &program, int64_t step,
                                int microbatch, int perStep) {
  Shape shape = tokenShape(program);
  fillRows(program, [&](int64_t globalRow) {
    int64_t row = microbatch * shape.rows + globalRow;
    if (options.sequential) {
      int64_t windows = (trainCount - 1) / shape.length;
      int64_t index = (step - 1) * perStep * shape.rows + row;
      return index % windows * shape.length;
    }
    PhiloxWords words =
        philoxAt(step, static_cast<uint32_t>(row), 0, options.seed);
    return static_cast<int64_t>(
        boundedRandom(words, trainCount - shape.length));
  });
}

void TokenBatches::fillEvaluation(const br_program &program, int64_t index,
                                  int64_t count) {
  Shape shape = tokenShape(program);
  int64_t windows = (file.count() - trainCount - 1) / shape.length;
  int64_t wanted = count * shape.rows;
  fillRows(program, [&](int64_t globalRow) {
    int64_t i = index * shape.rows + globalRow;
    int64_t at = windows >= wanted ? i * windows / wanted : i % windows;
    return trainCount + at * shape.length;
  });
}

template <class F>
void TokenBatches::fillRows(const br_program &program, const F &first) {
  InputBlock rows =
      inputBlock(model, *findByRole(inputsOf(program), "tokens"), 0);
  for (int64_t row = 0; row < rows.count; ++row)
    fillRow(program, row, first(rows.begin + row));
}

// Tokens and targets may be cut along the sequence, too: then a rank has its
// part of each window.
void TokenBatches::fillRow(const br_program &program, int64_t row,
                           int64_t first) {
  file.read(first, tokenShape(program).length + 1, window.data());
  for (const br_io &io : inputsOf(program)) {
    bool isTokens = std::string_view(io.role) == "tokens";
    if (!isTokens && std::string_view(io.role) != "targets")
      continue;
    InputBlock part = inputBlock(model, io, 1);
    std::memcpy(model.at<int32_t>(io) + row * part.count,
                window.data() + part.begin + (isTokens ? 0 : 1),
                part.count * sizeof(int32_t));
  }
}
