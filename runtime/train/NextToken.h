//===- NextToken.h - logits of the next token -----------------------------===//
//
// `generate` takes a window of S tokens and the position of the last valid token, and returns the logits of
// the next token. `decode`, if the model has it, takes that last token alone, and reads caches that
// `generate` and earlier runs of `decode` filled for the tokens before it. So the first new token takes a
// run of `generate`, and each further token a run of `decode`.
//
// When the text is longer than S, the window moves forward by S / 2. This takes a run of `generate` again,
// because all positions change.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_NEXTTOKEN_H
#define BRAID_TRAIN_NEXTTOKEN_H

#include "core/Model.h"

#include <functional>
#include <vector>

namespace braid {

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

} // namespace braid
#endif // BRAID_TRAIN_NEXTTOKEN_H
