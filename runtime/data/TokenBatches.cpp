//===- TokenBatches.cpp - windows of token files --------------------------===//

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
         "' must be i32 of shape [batch, sequence] to be filled from a token file");
  return {io.shape[0], io.shape[1]};
}

// Whether the input has this name and describes documents that share a row.
bool isNamed(const br_io &io, std::string_view name) {
  return std::string_view(io.role) == "features" && std::string_view(io.name) == name;
}

bool isOfTokens(const br_io &io) {
  const std::string_view role = io.role;
  return role == "tokens" || role == "targets" || isNamed(io, "documents") || isNamed(io, "positions") ||
         isNamed(io, "present");
}

bool readsDocuments(const br_program &program) {
  auto inputs = inputsOf(program);
  return std::any_of(inputs.begin(), inputs.end(), [](const br_io &io) { return isNamed(io, "documents"); });
}

Shape tokenShape(const br_program &program) {
  const br_io *tokens = findByRole(inputsOf(program), "tokens");
  if (!tokens)
    fail("program '", program.name, "' has no input of role 'tokens'");
  Shape shape = shapeOf(*tokens);
  for (const br_io &io : inputsOf(program))
    if (isOfTokens(io) && (shapeOf(io).rows != shape.rows || shapeOf(io).length != shape.length))
      fail("program '", program.name, "': inputs '", tokens->name, "' and '", io.name, "' differ in shape");
  return shape;
}

// Returns the smallest vocabulary of the model's tokens and targets: both are the same ids.
int64_t vocabularyOf(const br_model &table, const br_program &program) {
  int64_t vocabulary = table.vocab_size;
  for (const char *role : {"tokens", "targets"})
    if (const br_io *io = findByRole(inputsOf(program), role); io && io->extent > 0)
      vocabulary = std::min(vocabulary, io->extent);
  return vocabulary;
}

int64_t windowLength(const br_program *program) { return program ? tokenShape(*program).length : 0; }

std::vector<double> weightsOf(const DataFiles &data) {
  std::vector<double> weights;
  for (const DataGroup &group : data.groups)
    weights.push_back(group.weight);
  return weights;
}

} // namespace

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TokenBatches::TokenBatches(const Model &model, const BatchOptions &options, const br_program *training,
                           const br_program *evaluation)
    : model(model), options(options), mix(weightsOf(options.data)),
      isPacked(readsDocuments(training ? *training : *evaluation)) {
  open(vocabularyOf(model.table(), training ? *training : *evaluation));
  for (Shard &shard : shards)
    if (isPacked)
      pack(shard, windowLength(training ? training : evaluation));
  checkLengths(training, evaluation);
  tokens.resize(std::max(windowLength(training), windowLength(evaluation)) + 1);
  targets.resize(tokens.size());
  documents.resize(tokens.size()), positions.resize(tokens.size()), present.resize(tokens.size());
}

void TokenBatches::open(int64_t vocabulary) {
  for (const DataGroup &group : options.data.groups)
    for (const std::string &path : group.paths) {
      TokenFile file(path, vocabulary, options.data.format);
      if (file.isMasked() && !model.table().loss)
        fail("the token file '", path, "' masks some targets, but the loss of the model counts every target; ",
             "tokenize without a mask, or use a loss that ignores targets");
      checkVocabulary(file);
      auto heldOut = static_cast<int64_t>(static_cast<double>(file.count()) * options.holdout);
      const int64_t trainCount = file.count() - heldOut;
      shards.push_back({std::move(file), trainCount});
    }
  table = tableOf(options.data);
  size_t first = 0;
  for (const DataGroup &group : options.data.groups) {
    groups.push_back(Shards(shards).subspan(first, group.paths.size()));
    first += group.paths.size();
  }
}

// Checks that all files have the same vocabulary size: in files without tables, only this shows different
// tokenizers.
void TokenBatches::checkVocabulary(const TokenFile &file) const {
  for (const Shard &other : shards)
    if (file.vocabulary() > 0 && other.file.vocabulary() > 0 && file.vocabulary() != other.file.vocabulary())
      fail("'", other.file.path(), "' has a vocabulary of ", other.file.vocabulary(), " tokens, but '", file.path(),
           "' one of ", file.vocabulary(), ", so different tokenizers made them; give files of one tokenizer");
}

// Packs documents into rows. Moves the held-out boundary to the start of a document, so that no document is
// in both parts.
void TokenBatches::pack(Shard &shard, int64_t length) const {
  shard.documents = shard.file.documents();
  if (shard.documents.empty())
    fail("the model packs documents into rows (braid-model --pack), but '", shard.file.path(),
         "' does not mark where documents begin; make a token file with scripts/tokenize");
  if (!model.table().loss)
    fail("the model packs documents into rows, but its loss also counts the targets between documents; use a loss that "
         "ignores targets");
  auto first = std::upper_bound(shard.documents.begin(), shard.documents.end(), shard.trainCount);
  if (shard.trainCount < shard.file.count())
    shard.trainCount = first == shard.documents.begin() ? 0 : *std::prev(first);
  shard.training = PackedRows(shard.documents, 0, shard.trainCount, length);
  shard.heldOut = PackedRows(shard.documents, shard.trainCount, shard.file.count(), length);
}

// Every file needs training rows. A held-out part may be too short if another file's is long enough.
void TokenBatches::checkLengths(const br_program *training, const br_program *evaluation) const {
  auto check = [&](const Shard &shard, Part part, const br_program *program) {
    const char *what = part == Part::training ? "training part" : "held-out part";
    if (program && isPacked && count(shard, part) == 0)
      fail("the ", what, " of '", shard.file.path(), "' has no whole document: the file has ", shard.documents.size(),
           " of them in ", shard.file.count(), " tokens; separate documents (scripts/tokenize --separator), give ",
           "more of them, or change --holdout");
    const int64_t needed = part == Part::heldOut && options.fillsLastBatch ? 2 : windowLength(program) + 1;
    if (program && !isPacked && count(shard, part) < needed)
      fail("the data file '", shard.file.path(), "' is too short: its ", what, " has ", count(shard, part), " of ",
           shard.file.count(), " tokens, but one window needs ", needed, "; give more data, or change --holdout");
  };
  for (const Shard &shard : shards)
    check(shard, Part::training, training);
  auto longest = std::max_element(shards.begin(), shards.end(), [](const Shard &a, const Shard &b) {
    return count(a, Part::heldOut) < count(b, Part::heldOut);
  });
  check(*longest, Part::heldOut, evaluation);
}

int64_t TokenBatches::count(const Shard &shard, Part part) {
  return part == Part::training ? shard.trainCount : shard.file.count() - shard.trainCount;
}

int64_t TokenBatches::count(std::span<const Shard> groupShards, Part part) {
  int64_t sum = 0;
  for (const Shard &shard : groupShards)
    sum += count(shard, part);
  return sum;
}

BatchSize TokenBatches::batchSize(const br_program &program) const {
  Shape shape = tokenShape(program);
  InputBlock rows = inputBlock(model, *findByRole(inputsOf(program), "tokens"), 0);
  return {rows.count, shape.rows / rows.count, shape.length};
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

// The last window of a file may be padded if the loss can ignore the padding.
int64_t TokenBatches::windowsOf(const br_program &program, const Shard &shard, Part part) const {
  if (isPacked)
    return (part == Part::training ? shard.training : shard.heldOut).count();
  const int64_t length = tokenShape(program).length, targets = std::max<int64_t>(0, count(shard, part) - 1);
  const bool fills = model.canLackRows() || options.fillsLastBatch;
  return (targets + (fills ? length - 1 : 0)) / length;
}

int64_t TokenBatches::windowsOf(const br_program &program, std::span<const Shard> groupShards, Part part) const {
  int64_t sum = 0;
  for (const Shard &shard : groupShards)
    sum += windowsOf(program, shard, part);
  return sum;
}

TokenBatches::Window TokenBatches::packedWindow(Shard &shard, Part part, int64_t number) const {
  const PackedRows &rows = part == Part::training ? shard.training : shard.heldOut;
  const int64_t first = rows.first(number), next = rows.first(number + 1);
  const bool isWhole = number + 1 == rows.count() || std::ranges::binary_search(shard.documents, next);
  return {&shard, first, next - first - (isWhole ? 1 : 0)};
}

TokenBatches::Window TokenBatches::windowOf(const br_program &program, Shards groupShards, Part part,
                                            std::optional<int64_t> number) const {
  if (!number)
    return {&groupShards[0], 0, 0};
  auto shard = groupShards.begin();
  int64_t left = *number;
  for (int64_t windows; left >= (windows = windowsOf(program, *shard, part)); ++shard)
    left -= windows;
  if (isPacked)
    return packedWindow(*shard, part, left);
  const int64_t length = tokenShape(program).length, first = left * length;
  return {&*shard, begin(*shard, part) + first, std::min(length, count(*shard, part) - 1 - first)};
}

TokenBatches::Window TokenBatches::randomWindow(const br_program &program, Shards groupShards, int64_t step,
                                                int64_t row) const {
  const int64_t length = tokenShape(program).length;
  const PhiloxWords words = philoxAt(step, static_cast<uint32_t>(row), 0, options.seed);
  if (isPacked)
    return windowOf(program, groupShards, Part::training,
                    static_cast<int64_t>(boundedRandom(words, windowsOf(program, groupShards, Part::training))));
  const int64_t places = count(groupShards, Part::training) - static_cast<int64_t>(groupShards.size()) * length;
  auto shard = groupShards.begin();
  auto left = static_cast<int64_t>(boundedRandom(words, places));
  for (int64_t starts; left >= (starts = shard->trainCount - length); ++shard)
    left -= starts;
  return {&*shard, left, length};
}

// With weights, the passes of groups end at different times, so no batch is short.
RowOrder TokenBatches::trainingOrder(const br_program &program, int perStep) const {
  return {windowsOf(program, shards, Part::training), tokenShape(program).rows * perStep,
          model.canLackRows() || options.data.isWeighted()};
}

RowOrder TokenBatches::evaluationOrder(const br_program &program) const {
  return {windowsOf(program, shards, Part::heldOut), tokenShape(program).rows,
          model.canLackRows() || options.fillsLastBatch};
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

BatchCount TokenBatches::fillTraining(const br_program &program, int64_t step, int microbatch, int perStep) {
  Shape shape = tokenShape(program);
  RowOrder order = trainingOrder(program, perStep);
  auto at = [&](int64_t globalRow) -> Window {
    int64_t row = microbatch * shape.rows + globalRow;
    const Mix::Place place = mix.at((step - 1) * order.batch + row);
    const Shards group = groups[place.source];
    if (!options.sequential)
      return randomWindow(program, group, step, row);
    if (!options.data.isWeighted())
      return windowOf(program, group, Part::training, order.at(step - 1, row));
    return windowOf(program, group, Part::training, place.number % windowsOf(program, group, Part::training));
  };
  fillRows(program, at);
  int64_t tokensOfAll = 0;
  targetsOfRows.assign(shape.rows, 0);
  for (int64_t row = 0; row < shape.rows; ++row) {
    const Window window = at(row);
    tokensOfAll += window.targets;
    targetsOfRows[row] = model.rank().isFirst() ? counted(window) : window.targets;
  }
  return countOf(batchSize(program), tokensOfAll, targetsOfRows);
}

bool TokenBatches::hasTrainingTargets() {
  return std::any_of(shards.begin(), shards.end(), [&](Shard &shard) { return hasTarget(shard, 0, shard.trainCount); });
}

// Reads until it finds a target that counts, usually the first one.
bool TokenBatches::hasTarget(Shard &shard, int64_t begin, int64_t end) {
  const auto length = static_cast<int64_t>(targets.size()) - 1;
  for (int64_t first = begin; first + 1 < end; first += length)
    if (counted({&shard, first, std::min(length, end - 1 - first)}) > 0)
      return true;
  return false;
}

int64_t TokenBatches::fillEvaluation(const br_program &program, int64_t index, int64_t count) {
  RowOrder order = evaluationOrder(program);
  int64_t wanted = count * order.batch;
  auto at = [&](int64_t globalRow) {
    int64_t row = index * order.batch + globalRow;
    return windowOf(program, shards, Part::heldOut,
                    order.rows > wanted ? row * order.rows / wanted : order.at(index, globalRow));
  };
  fillRows(program, at);
  int64_t sum = 0;
  for (int64_t row = 0; row < order.batch; ++row)
    sum += counted(at(row));
  return sum;
}

template <class F> void TokenBatches::fillRows(const br_program &program, const F &at) {
  InputBlock own = inputBlock(model, *findByRole(inputsOf(program), "tokens"), 0);
  for (int64_t row = 0; row < own.count; ++row)
    fillRow(program, row, at(own.begin + row));
}

// Fills one row. Tokens and targets may be sharded along the sequence, too; then a rank has its part of
// each window.
void TokenBatches::fillRow(const br_program &program, int64_t row, Window window) {
  read(window);
  for (const br_io &io : inputsOf(program)) {
    if (!isOfTokens(io))
      continue;
    const std::vector<int32_t> &values = isNamed(io, "documents")                ? documents
                                         : isNamed(io, "positions")              ? positions
                                         : isNamed(io, "present")                ? present
                                         : std::string_view(io.role) == "tokens" ? tokens
                                                                                 : targets;
    InputBlock part = inputBlock(model, io, 1);
    std::memcpy(model.input<int32_t>(program, io) + row * part.count, values.data() + part.begin,
                part.count * sizeof(int32_t));
  }
}

void TokenBatches::read(Window window) {
  std::fill(tokens.begin(), tokens.end(), 0);
  if (window.targets > 0)
    window.shard->file.read(window.first, window.targets + 1, tokens.data());
  std::copy_n(tokens.begin() + 1, window.targets, targets.begin());
  maskTargets(window);
}

// Replaces targets that do not count by the ignored index, and fills `present`.
void TokenBatches::maskTargets(Window window) {
  if (const br_loss *loss = model.table().loss) {
    std::fill(targets.begin() + window.targets, targets.end(), loss->ignored);
    window.shard->file.mask(window.first + 1, window.targets, loss->ignored, targets.data());
  }
  std::fill(present.begin(), present.end(), -1);
  std::fill_n(present.begin(), window.targets, 0);
  if (isPacked)
    placeDocuments(window);
}

// Numbers the documents of a row. A part of a document after the last whole one counts as a document.
void TokenBatches::placeDocuments(Window window) {
  const auto length = static_cast<int64_t>(tokens.size()) - 1;
  const std::vector<int64_t> &starts = window.shard->documents;
  auto next = std::upper_bound(starts.begin(), starts.end(), window.first);
  std::fill(documents.begin(), documents.end(), -1);
  std::fill(positions.begin(), positions.end(), 0);
  int32_t number = 0, position = 0;
  for (int64_t i = 0; i < std::min(length, window.targets + 1); ++i) {
    if (next != starts.end() && *next == window.first + i) {
      targets[i - 1] = model.table().loss->ignored;
      present[i - 1] = -1;
      ++number, ++next, position = 0;
    }
    documents[i] = number, positions[i] = position++;
    present[i] = i < window.targets ? number : -1;
  }
}

// Reads the ids only if the ignored index is a valid token.
int64_t TokenBatches::counted(Window window) {
  const br_loss *loss = model.table().loss;
  const bool ignoresAToken = loss && loss->ignored >= 0 && loss->ignored < model.table().vocab_size;
  if (!ignoresAToken && !isPacked && !(loss && window.shard->file.isMasked()))
    return window.targets;
  if (ignoresAToken) {
    read(window);
  } else {
    std::fill_n(targets.begin(), window.targets, 0);
    maskTargets(window);
  }
  return window.targets - std::count(targets.begin(), targets.begin() + window.targets, loss->ignored);
}
