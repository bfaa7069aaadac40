//===- NextToken.cpp - logits of the next token ---------------------------===//

#include "train/NextToken.h"
#include "base/Error.h"
#include "core/Mesh.h"

#include <algorithm>
#include <string_view>

using namespace braid;

NextToken::NextToken(Model &model, const br_model &table)
    : model(model), generate(model.program("generate")),
      // `decode` needs all ranks to receive the text: a rank without it cannot count its tokens.
      decode(isOfAllRanks(table) ? findProgram(table, "decode") : nullptr),
      tokens(findByRole(inputsOf(generate), "tokens")), logits(findByRole(resultsOf(generate), "logits")) {
  // If one rank computes for all, the other ranks take no text.
  const bool isOnAnotherRank = !isOfAllRanks(table) && inputsOf(generate).empty();
  if ((!tokens && !isOnAnotherRank) || !logits || (tokens && tokens->rank < 1) || logits->rank < 1)
    fail("program 'generate' lacks an input of role 'tokens' or a result of "
         "role 'logits'");
  for (const br_io *io : {tokens, logits})
    if (io && (io->flat != 0 || std::any_of(io->dims, io->dims + io->rank, [](int32_t group) { return group != 0; })))
      fail("program 'generate' shards '", io->name,
           "' across ranks, but sampling needs tokens and logits that are whole on every rank; "
           "compile it without sharding the batch");
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
