//===- Sample.cpp - generate text from a checkpoint -----------------------===//
//
// The model's programs compute the logits of the next token (train/NextToken.h).
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
#include "core/Model.h"
#include "data/TokenTable.h"
#include "train/Commands.h"
#include "train/ConfigCheck.h"
#include "train/NextToken.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

using namespace braid;
namespace fs = std::filesystem;

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
class Speech {
public:
  Speech(std::optional<TokenTable> table, int64_t vocab) : table(std::move(table)), vocab(vocab) {}

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
      k = likeliest(k, sum);
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
  size_t likeliest(size_t k, double &sum) const {
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

  const Speech speech(findTable(options), vocab);
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
