//===- NextToken.h - the logits of the token behind a text ----------------===//
//
// `generate` takes a window of S tokens and the position of the last that counts, and gives the
// logits of the next.  `decode`, where the model has it, takes that token alone: what it needs of
// those before, `generate` and earlier runs of `decode` have left in caches.  So the first token of a
// text takes a run of `generate`, and each other one of `decode`.
//
// When a text is longer than S, the window moves on by half of S, which takes a run of `generate`
// again: each position then stands elsewhere.
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
  // Refuses, by an Error, a model that lacks `generate`, or shards what it takes or gives.
  NextToken(Model &model, const br_model &table);

  int64_t vocab() const { return logits->shape[logits->rank - 1]; }

  // Runs a program for the token behind `text`, which is that of the last call with tokens behind it, and
  // returns what `choose` makes of the logits.
  int32_t draw(const std::vector<int32_t> &text, uint64_t seed, const std::function<int32_t(const float *)> &choose);

private:
  void fill(const br_program &program, const br_io *tokens, const int32_t *from, int64_t count, int64_t position);

  Model &model;
  const br_program &generate;
  const br_program *decode;     // null: there is none
  const br_io *tokens, *logits; // of `generate`
  size_t begin = 0;             // of the window in the text
  size_t seen = 0;              // tokens of the window that the last run knew; 0: none
};

} // namespace braid
#endif // BRAID_TRAIN_NEXTTOKEN_H
