//===- Evaluate.h - loss on held-out data ---------------------------------===//
#ifndef BRAID_TRAIN_EVALUATE_H
#define BRAID_TRAIN_EVALUATE_H

#include "core/Model.h"
#include "data/Batches.h"

#include <string>
#include <utility>
#include <vector>

namespace braid {

// Loss of the program `eval` on held-out data.
struct HeldOutLoss {
  float loss;      // per token (or row), whether the program returns a mean or a sum
  int64_t batches; // number of batches in the mean; each is weighted by its tokens
  int64_t counted; // tokens or rows in these batches
  // Counters of the model, such as dropped tokens: name and sum over the batches.
  std::vector<std::pair<std::string, double>> outputs = {};
};

// Returns the mean loss over `wanted` batches, spread evenly over the held-out part; over all of its
// batches if it has fewer.
HeldOutLoss heldOutLoss(Model &model, const br_program &program, BatchSource &batches, int64_t wanted, uint64_t seed);

// Throws Error if the held-out part has no batch. On the first rank, warns of data that `wanted` batches
// cannot cover.
void checkHeldOut(const Model &model, const br_program &program, const BatchSource &batches, int64_t wanted);

} // namespace braid
#endif // BRAID_TRAIN_EVALUATE_H
