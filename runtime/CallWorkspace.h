//===- CallWorkspace.h - the scratch memory of library calls --------------===//
//
// Upper bounds of a call's scratch memory, from its sizes alone.  The compiler plans this many
// bytes, and tests check the libraries against it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CALLWORKSPACE_H
#define BRAID_CALLWORKSPACE_H

#include <algorithm>
#include <cstdint>

namespace braid {

inline constexpr int64_t roundUp(int64_t number, int64_t multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

// Converts bytes to an integer; limits sizes that fit no memory, so that they do not wrap around.
inline constexpr int64_t wholeBytes(double bytes) { return static_cast<int64_t>(std::min(bytes, 0x1p60)); }

//===----------------------------------------------------------------------===//
// oneDNN
//===----------------------------------------------------------------------===//

// `items` matmuls of m x k by k x n, with elements of `elementBytes` bytes, in any layout.
struct MatmulSizes {
  int64_t m, n, k, items, elementBytes;
};

// Upper bound of oneDNN 2.6's bytes for a thread: 64 columns of B for at most 1024 steps of k, a
// part of A, and a part of C if that has another type.
inline constexpr int64_t matmulThreadBytes(const MatmulSizes &sizes) {
  constexpr int64_t aboutA = 135200, aboutC = 32768, aboutWideC = 262144, rest = 2048;
  const int64_t k = roundUp(sizes.k, 16), maxC = sizes.elementBytes < 4 ? aboutWideC : aboutC;
  auto bytes = [&](int64_t m, int64_t n) {
    return 4 * (64 * std::min<int64_t>(k, 1024) + std::min(roundUp(m, 16) * k, aboutA) +
                std::min(roundUp(m, 16) * roundUp(n, 64), maxC)) +
           rest;
  };
  // C may be stored column by column; then the call computes B' A'.
  return std::max(bytes(sizes.m, sizes.n), bytes(sizes.n, sizes.m));
}

// Allows for as many threads as are useful, but at least four.  With several items, each thread may
// have to copy the matrices of one item.
inline constexpr int64_t matmulWorkspace(const MatmulSizes &sizes, int64_t maxBytes) {
  constexpr int64_t minThreads = 4, maxThreads = 16;
  constexpr double flopsOfThread = 4e6;
  const double m = static_cast<double>(sizes.m), n = static_cast<double>(sizes.n), k = static_cast<double>(sizes.k);
  const double flops = 2 * m * n * k * static_cast<double>(sizes.items);
  const int64_t threads = std::clamp(wholeBytes(flops / flopsOfThread), minThreads, maxThreads);
  const int64_t copies = wholeBytes((m * k + k * n + m * n) * 4) + 3 * 64;
  return std::min(maxBytes,
                  threads * matmulThreadBytes(sizes) + (sizes.items > 1 ? threads : 1) * std::min(copies, maxBytes));
}

//===----------------------------------------------------------------------===//
// cuDNN
//===----------------------------------------------------------------------===//

// How a GPU's attention library sums gradients.
struct AttentionSums {
  // fixedTakesScores: a fixed order stores the gradient of the scores.  hasSerial: the library has
  // a serial order that does not.
  bool fixedTakesScores = true, hasSerial = false;
  // Copies of dq in f32, for every other order.
  int64_t queryGradients = 2;
};

struct AttentionSizes {
  int64_t batch, heads, keyHeads, queries, keys, size, elementBytes;

  // Elements of the scores' gradient, in whole tiles.
  constexpr double scores() const {
    return static_cast<double>(batch * heads) * static_cast<double>(roundUp(queries, 64)) *
           static_cast<double>(roundUp(keys, 128));
  }
};

// Bytes that another release may need beyond the numbers below.
inline constexpr int64_t attentionSlack = 1 << 20;

// Measured with cuDNN 9.19: one f32 for each row; dk and dv of each query head where query heads
// share keys; and either the gradient of all scores, or dq in f32.
inline constexpr int64_t attentionGradWorkspace(const AttentionSizes &sizes, const AttentionSums &sums,
                                                bool isFixedOrder) {
  const double heads = static_cast<double>(sizes.batch * sizes.heads), queries = static_cast<double>(sizes.queries),
               keys = static_cast<double>(sizes.keys), size = static_cast<double>(sizes.size),
               element = static_cast<double>(sizes.elementBytes);
  const bool isGrouped = sizes.heads != sizes.keyHeads;
  const double always = heads * queries * 4 + (isGrouped ? 2 * heads * keys * size * element : 0) + attentionSlack;
  if (isFixedOrder && sums.fixedTakesScores)
    return wholeBytes(always + sizes.scores() * element);
  const double longest = isGrouped ? std::max(queries, keys) : queries;
  return wholeBytes(always + static_cast<double>(sums.queryGradients) * heads * longest * size * 4);
}

} // namespace braid

#endif // BRAID_CALLWORKSPACE_H
