//===- InitialValues.h - initial values of tensors ------------------------===//
//
// Random values depend on (seed, stream, logical index i) only. So they are the same for every layout and
// thread count, and another program can reproduce them:
//
//   w = philox4x32-10(counter = (i low, i high, 0, stream), key = seed)
//   uniform [a, b)      a + (b - a) * (w[0] >> 8) * 2^-24
//   normal mean a, s.d. b   a + b * sqrt(-2 ln u) * cos(2 pi v)
//                           with u = (w[0] + 1) * 2^-32 and v = w[1] * 2^-32
//
// Values are computed in double, then rounded to the tensor's type (cpu/RandomNumbers.h).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_INITIALVALUES_H
#define BRAID_TRAIN_INITIALVALUES_H

#include "core/Model.h"

#include <cstddef>

namespace braid {

// Returns the initial value of logical element `i` of `tensor`.
double initialValue(const br_tensor &tensor, uint64_t seed, int64_t i);

// Fills the rank's part of a tensor. Padding becomes zero.
void initialize(const br_model &model, const br_tensor &tensor, std::byte *memory, uint64_t seed, int threads,
                int rank);
// Initializes all tensors. A copy of another tensor (br_tensor.copy_of) gets that tensor's values, rounded.
void initialize(Model &model, uint64_t seed);

} // namespace braid
#endif // BRAID_TRAIN_INITIALVALUES_H
