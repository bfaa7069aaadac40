//===- CallWorkspace.h - the scratch memory of library calls --------------===//
//
// What a call may use, from its sizes alone: the compiler plans so many bytes for it, and
// tests hold the libraries against them.
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

// Sizes that fit no memory must not wrap around.
inline constexpr int64_t wholeBytes(double bytes) { return static_cast<int64_t>(std::min(bytes, 0x1p60)); }

//===----------------------------------------------------------------------===//
// oneDNN
//===----------------------------------------------------------------------===//

// A matmul of m x k by k x n, `items` times, of elements of so many bytes, in any layout.
struct MatmulSizes {
  int64_t m, n, k, items, elementBytes;
};

// Bounds of what oneDNN 2.6 takes for a thread: 64 columns of B for at most 1024 steps of k, a
// part of A, and a part of C where that has another type.
inline constexpr int64_t matmulThreadBytes(const MatmulSizes &sizes) {
  constexpr int64_t aboutA = 135200, aboutC = 32768, aboutWideC = 262144, rest = 2048;
  const int64_t k = roundUp(sizes.k, 16), mostC = sizes.elementBytes < 4 ? aboutWideC : aboutC;
  auto bytes = [&](int64_t m, int64_t n) {
    return 4 * (64 * std::min<int64_t>(k, 1024) + std::min(roundUp(m, 16) * k, aboutA) +
                std::min(roundUp(m, 16) * roundUp(n, 64), mostC)) +
           rest;
  };
  // C may be stored by columns; then it is the product of B' and A'.
  return std::max(bytes(sizes.m, sizes.n), bytes(sizes.n, sizes.m));
}

// For as many threads as are of use, but at least for four; where there are several items each
// thread may have to copy the matrices of one.
inline constexpr int64_t matmulWorkspace(const MatmulSizes &sizes, int64_t most) {
  constexpr int64_t leastThreads = 4, mostThreads = 16;
  constexpr double flopsOfThread = 4e6;
  const double m = static_cast<double>(sizes.m), n = static_cast<double>(sizes.n), k = static_cast<double>(sizes.k);
  const double flops = 2 * m * n * k * static_cast<double>(sizes.items);
  const int64_t threads = std::clamp(wholeBytes(flops / flopsOfThread), leastThreads, mostThreads);
  const int64_t copies = wholeBytes((m * k + k * n + m * n) * 4) + 3 * 64;
  return std::min(most, threads * matmulThreadBytes(sizes) + (sizes.items > 1 ? threads : 1) * std::min(copies, most));
}

//===----------------------------------------------------------------------===//
// cuDNN
//===----------------------------------------------------------------------===//

// How the attention library of a GPU sums gradients.
struct AttentionSums {
  // Whether for a fixed order it writes down the gradient of the scores; and whether it can do
  // without in a serial order.
  bool fixedTakesScores = true, hasSerial = false;
  // In any other way: the copies of dq in f32.
  int64_t queryGradients = 2;
};

struct AttentionSizes {
  int64_t batch, heads, keyHeads, queries, keys, size, elementBytes;

  // Elements of the gradient of the scores, in whole tiles.
  constexpr double scores() const {
    return static_cast<double>(batch * heads) * static_cast<double>(roundUp(queries, 64)) *
           static_cast<double>(roundUp(keys, 128));
  }
};

// What another release may take beside the numbers below.
inline constexpr int64_t attentionSlack = 1 << 20;

// Measured of cuDNN 9.19: a number a row; where query heads share keys, dk and dv of each query
// head; and either the gradient of all scores, or dq in f32.
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
