//===- Evaluate.h - loss on the held-out part -----------------------------===//
#ifndef BRAID_TRAIN_EVALUATE_H
#define BRAID_TRAIN_EVALUATE_H

#include "core/Model.h"
#include "data/Batches.h"

#include <string>
#include <utility>
#include <vector>

namespace braid {

// The loss of the `eval` program over the held-out part.
struct HeldOutLoss {
  float loss;      // a token (or a row): of a mean or of a sum, for any batch
  int64_t batches; // that it is the mean of, by the tokens they count
  int64_t counted; // tokens or rows in them
  // What the model counts, such as dropped tokens: by name, summed over the batches.
  std::vector<std::pair<std::string, double>> outputs = {};
};

// Over `wanted` batches that cover the held-out part evenly, or, where it has
// fewer, over all of it.
HeldOutLoss heldOutLoss(Model &model, const br_program &program, BatchSource &batches, int64_t wanted, uint64_t seed);

// Throws Error when the held-out part has no batch; warns, on the first rank, of
// what `wanted` batches cannot cover.
void checkHeldOut(const Model &model, const br_program &program, const BatchSource &batches, int64_t wanted);

} // namespace braid
#endif // BRAID_TRAIN_EVALUATE_H
