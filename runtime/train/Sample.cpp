//===- Sample.cpp - generate text from a checkpoint -----------------------===//
//
// A tokenizer's table maps tokens to text (data/TokenTable.h). Without one, a model with at most 256 tokens
// uses bytes, and other models use numbers.
//
// All ranks get the same logits and draw the same token; the first rank prints it. If one rank computes for
// all, the others take no text and receive the logits.
//
//===----------------------------------------------------------------------===//

#include "base/Error.h"
#include "base/Format.h"
#include "base/Hash.h"
#include "base/Philox.h"
#include "checkpoint/Checkpoint.h"
#include "core/Mesh.h"
#include "core/Model.h"
#include "data/TokenTable.h"
#include "train/Commands.h"
#include "train/ConfigCheck.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

using namespace braid;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Logits of the next token
//
// `generate` takes a window of S tokens and the position of the last valid token, and returns the logits of
// the next token. `decode`, if the model has it, takes that last token alone, and reads caches that
// `generate` and earlier runs of `decode` filled for the tokens before it. So the first new token takes a
// run of `generate`, and each further token a run of `decode`.
//
// When the text is longer than S, the window moves forward by S / 2. This takes a run of `generate` again,
// because all positions change.
//===----------------------------------------------------------------------===//

namespace {
class NextToken {
public:
  // Throws Error if the model lacks `generate`, or shards its inputs or results.
  NextToken(Model &model, const br_model &table);

  int64_t vocab() const { return logits->shape[logits->rank - 1]; }

  // Runs a program for the token after `text` and returns the result of `choose` for the logits. `text`
  // must begin with the text of the previous call.
  int32_t draw(const std::vector<int32_t> &text, uint64_t seed, const std::function<int32_t(const float *)> &choose);

private:
  void fill(const br_program &program, const br_io *tokens, const int32_t *from, int64_t count, int64_t position);

  Model &model;
  const br_program &generate;
  const br_program *decode;     // null if the model has none
  const br_io *tokens, *logits; // of `generate`
  size_t begin = 0;             // start of the window in the text
  size_t seen = 0;              // tokens of the window that the previous run processed; 0: none
};
} // namespace

NextToken::NextToken(Model &model, const br_model &table)
    : model(model), generate(model.program("generate")),
      // `decode` needs all ranks to receive the text: a rank without it cannot count its tokens.
      decode(isOfAllRanks(table) ? findProgram(table, "decode") : nullptr),
      tokens(findByRole(inputsOf(generate), "tokens")), logits(findByRole(resultsOf(generate), "logits")) {
  // If one rank computes for all, the other ranks take no text.
  const bool isOnAnotherRank = !isOfAllRanks(table) && inputsOf(generate).empty();
  if ((!tokens && !isOnAnotherRank) || !logits || (tokens && tokens->rank < 1) || logits->rank < 1)
    fail("program 'generate' lacks an input of role 'tokens' or a result of role 'logits'");
  for (const br_io *io : {tokens, logits})
    if (io && (io->flat != 0 || std::any_of(io->dims, io->dims + io->rank, [](int32_t group) { return group != 0; })))
      fail("program 'generate' shards '", io->name,
           "' across ranks, but sampling needs tokens and logits that are whole on every rank; compile it without "
           "sharding the batch");
}

void NextToken::fill(const br_program &program, const br_io *taken, const int32_t *from, int64_t count,
                     int64_t position) {
  int32_t *memory = model.input<int32_t>(program, *taken);
  std::copy(from, from + count, memory);
  std::fill(memory + count, memory + taken->shape[taken->rank - 1], 0);
  model.setPosition(program, static_cast<int32_t>(position));
  // A model with packed documents gets a single document here, which ends at this position.
  for (const br_io &io : inputsOf(program)) {
    const std::string_view name = io.name;
    if (std::string_view(io.role) != "features" || (name != "documents" && name != "positions" && name != "present"))
      continue;
    int32_t *numbers = model.input<int32_t>(program, io);
    for (int64_t i = 0; i < io.shape[io.rank - 1]; ++i)
      numbers[i] = name == "positions" ? static_cast<int32_t>(i) : name == "present" && i > position ? -1 : 0;
  }
}

int32_t NextToken::draw(const std::vector<int32_t> &text, uint64_t seed,
                        const std::function<int32_t(const float *)> &choose) {
  const br_program *program = &generate;
  if (tokens) {
    const size_t size = tokens->shape[tokens->rank - 1];
    if (text.size() - begin > size) {
      begin = text.size() - (seen ? std::max<size_t>(size / 2, 1) : size);
      seen = 0;
    }
    const int64_t count = text.size() - begin;
    if (decode && seen > 0 && seen + 1 == text.size() - begin) {
      program = decode;
      fill(*decode, findByRole(inputsOf(*decode), "tokens"), &text.back(), 1, count - 1);
    } else {
      fill(generate, tokens, text.data() + begin, count, count - 1);
    }
    seen = count;
  }
  model.setKey(*program, seed, 0, 0);
  model.run(*program);
  int32_t drawn = 0;
  model.onHost(*findByRole(resultsOf(*program), "logits"), Use::Read,
               [&](const std::byte *memory) { drawn = choose(reinterpret_cast<const float *>(memory)); });
  return drawn;
}

//===----------------------------------------------------------------------===//
// Text and tokens
//===----------------------------------------------------------------------===//

namespace {

// Returns the requested table, or else the table that training saved beside the checkpoint.
std::optional<TokenTable> findTable(const SampleOptions &options) {
  if (!options.tokenizer.empty()) {
    std::optional<TokenTable> table = TokenTable::read(options.tokenizer);
    if (!table)
      fail("the token file '", options.tokenizer, "' has no table of its tokens' texts; make it with scripts/tokenize");
    return table;
  }
  const fs::path path = fs::path(options.checkpoint + "/").parent_path();
  for (const fs::path &folder : {path, path.parent_path()})
    if (std::error_code error; fs::is_regular_file(folder / kTokenTableName, error))
      return TokenTable::read((folder / kTokenTableName).string());
  return std::nullopt;
}

std::vector<int32_t> parseTokens(const std::string &text) {
  std::vector<int32_t> ids;
  const char *at = text.data(), *end = at + text.size();
  while (at < end) {
    int32_t id = 0;
    auto [next, status] = std::from_chars(at, end, id);
    if (status != std::errc() || (next < end && *next != ','))
      fail("--prompt-tokens '", text, "' is not a list of numbers like 1,2,3");
    ids.push_back(id);
    at = next < end ? next + 1 : next;
  }
  return ids;
}

// Converts between tokens and text.
class TextCodec {
public:
  TextCodec(std::optional<TokenTable> table, int64_t vocab) : table(std::move(table)), vocab(vocab) {}

  std::vector<int32_t> promptOf(const SampleOptions &options) const {
    std::vector<int32_t> ids = tokensOf(options);
    if (ids.empty())
      fail("the prompt is empty; give at least one token");
    for (int32_t id : ids)
      if (id < 0 || id >= vocab)
        fail("token ", id, " of the prompt is outside the model's vocabulary of ", vocab);
    return ids;
  }

  bool ends(int32_t id) const { return table && id == table->endOfText(); }

  void emit(int32_t id, const Rank &rank) const {
    if (!rank.isFirst())
      return;
    if (table)
      emit(table->textOf(id));
    else if (vocab <= 256)
      std::putchar(id);
    else
      std::printf("%d ", id);
    std::fflush(stdout);
  }

private:
  static void emit(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

  std::vector<int32_t> tokensOf(const SampleOptions &options) const {
    if (!options.promptTokens.empty())
      return parseTokens(options.promptTokens);
    if (!options.prompt && table && table->endOfText() >= 0)
      return {static_cast<int32_t>(table->endOfText())};
    if (table || vocab > 256)
      fail("the model reads tokens of a vocabulary of ", vocab,
           ", not bytes, and this program has no tokenizer: give a ",
           "text to scripts/sample, or its tokens as --prompt-tokens=1,2,3");
    std::vector<int32_t> ids;
    for (unsigned char c : options.prompt.value_or("\n"))
      ids.push_back(c);
    return ids;
  }

  std::optional<TokenTable> table;
  int64_t vocab;
};

// Draws the next token from the softmax of logits / temperature over the k largest logits, limited to the
// fewest of these whose probabilities reach p. Order and definitions follow transformers'
// RepetitionPenaltyLogitsProcessor, TemperatureLogitsWarper, TopKLogitsWarper and TopPLogitsWarper. One
// difference: among equal logits at the k-th place, lower tokens win, instead of all being kept.
class Sampler {
public:
  Sampler(const SampleOptions &options, int64_t vocab)
      : options(options), logits(vocab), order(vocab), weights(vocab) {}

  int32_t next(const std::vector<int32_t> &text, const float *ofModel, int64_t place) {
    std::copy_n(ofModel, logits.size(), logits.begin());
    penalize(text, ofModel);
    if (options.temperature == 0)
      return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<int32_t>(i);
    size_t k = options.topK > 0 ? std::min<size_t>(options.topK, order.size()) : order.size();
    std::partial_sort(order.begin(), order.begin() + k, order.end(),
                      [&](int32_t a, int32_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
    double sum = 0;
    for (size_t i = 0; i < k; ++i)
      sum += weights[i] = std::exp((logits[order[i]] - logits[order[0]]) / options.temperature);
    if (options.topP < 1)
      k = nucleusSize(k, sum);
    PhiloxWords words = philoxAt(place, 0, 0, options.seed);
    double left = boundedRandom(words, uint64_t{1} << 53) * 0x1p-53 * sum;
    for (size_t i = 0; i < k; ++i)
      if ((left -= weights[i]) < 0)
        return order[i];
    return order[k - 1];
  }

private:
  // Penalizes each token of the text once, however often it occurs.
  void penalize(const std::vector<int32_t> &text, const float *ofModel) {
    if (options.repetitionPenalty == 1)
      return;
    const auto penalty = static_cast<float>(options.repetitionPenalty);
    for (int32_t id : text)
      logits[id] = ofModel[id] < 0 ? ofModel[id] * penalty : ofModel[id] / penalty;
  }

  // Returns how many of the first k tokens to draw from: each token before which the cumulative probability
  // is less than p, and always the first. Sets `sum` to the sum of their weights.
  size_t nucleusSize(size_t k, double &sum) const {
    double before = 0;
    size_t count = 0;
    while (count < k && (count == 0 || before < options.topP * sum))
      before += weights[count++];
    sum = before;
    return count;
  }

  const SampleOptions &options;
  std::vector<float> logits; // after the repetition penalty
  std::vector<int32_t> order;
  std::vector<double> weights;
};

// Throws Error unless one logit at least is finite. A token whose logit is minus infinity is never drawn.
void checkFinite(const float *logits, int64_t vocab) {
  bool hasFinite = false;
  for (int64_t token = 0; token < vocab; ++token) {
    hasFinite |= std::isfinite(logits[token]);
    if (std::isnan(logits[token]) || logits[token] == std::numeric_limits<float>::infinity())
      fail("the model's logits are not finite: that of token ", token, " is ", formatNonFinite(logits[token]),
           "; check that the training of the checkpoint did not diverge");
  }
  if (!hasFinite)
    fail("the model's logits are not finite: all are -inf; check that the training of the checkpoint did not diverge");
}

} // namespace

static int runSample(const br_model &table, const SampleOptions &options, const Rank &rank, int threads) {
  Model model(table, threads, rank);
  NextToken next(model, table);
  const int64_t vocab = std::min(table.vocab_size, next.vocab());

  const TextCodec speech(findTable(options), vocab);
  std::vector<int32_t> text = speech.promptOf(options);
  const SavedTensors saved = openCheckpoint(options.checkpoint, model.rank());
  if (rank.isFirst())
    warnOfOtherModel(table, saved.metadata(), saved.path());
  restoreTensors(saved, model, Restore::ModelOnly);
  Sampler sampler(options, vocab);
  for (int32_t id : text)
    speech.emit(id, rank);
  for (int64_t i = 0; i < options.length; ++i) {
    text.push_back(next.draw(text, options.seed, [&](const float *logits) {
      checkFinite(logits, vocab);
      return sampler.next(text, logits, i);
    }));
    if (speech.ends(text.back()))
      break;
    speech.emit(text.back(), rank);
  }
  if (rank.isFirst())
    std::printf("\n");
  model.finish();
  return 0;
}

PreparedCommand braid::prepareSample(const br_model &table, const SampleOptions &options) {
  StartFacts facts = {{"the command", "sample"},
                      {"the prompt", formatHash(longHashOf(options.prompt.value_or("") + "\n" + options.promptTokens))},
                      {"--length", std::to_string(options.length)},
                      {"--temperature", formatExact(options.temperature)},
                      {"--top-k", std::to_string(options.topK)},
                      {"--top-p", formatExact(options.topP)},
                      {"--repetition-penalty", formatExact(options.repetitionPenalty)},
                      {"--seed", std::to_string(options.seed)}};
  return {facts, [&](const Rank &rank, int threads) { return runSample(table, options, rank, threads); }};
}
