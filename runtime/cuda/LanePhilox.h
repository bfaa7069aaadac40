//===- LanePhilox.h - counter-based random numbers for kernels ------------===//
//
// Philox4x32-10 (Salmon et al., 2011) in registers, with the same bits as cpu/LanePhilox.h.
// Element i of a random tensor uses
//
//   counter = (i / 4 low, i / 4 high, step, stream)   key = (seed low, seed high)
//   word    = output word i % 4                       u = (word >> 8) * 2^-24
//
// `key` points at the program's four key words {seed low, seed high, step, microbatch}.  The caller
// has already added microbatch * elements to i.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_LANEPHILOX_H
#define BRAID_CUDA_LANEPHILOX_H

#include "cuda/Lanes.h"

namespace braid {

namespace detail {
struct PhiloxBlock {
  uint32_t word[4];
};
__device__ inline PhiloxBlock philox(PhiloxBlock c, uint32_t k0, uint32_t k1) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c.word[0], p1 = uint64_t{0xCD9E8D57u} * c.word[2];
    c = {{static_cast<uint32_t>(p1 >> 32) ^ c.word[1] ^ k0, static_cast<uint32_t>(p1),
          static_cast<uint32_t>(p0 >> 32) ^ c.word[3] ^ k1, static_cast<uint32_t>(p0)}};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

// Random numbers of one tensor.
struct PhiloxStream {
  uint32_t seed_low, seed_high, step, stream;
  __device__ PhiloxStream(const int32_t *key, uint32_t stream)
      : seed_low(load(key)), seed_high(load(key + 1)), step(load(key + 2)), stream(stream) {}
  __device__ PhiloxBlock block(uint64_t number) const {
    return philox({{static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32), step, stream}}, seed_low,
                  seed_high);
  }
};

__device__ inline float unit(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }
__device__ inline uint32_t pick(const uint32_t *word, uint32_t place) {
  const uint32_t low = place & 1 ? word[1] : word[0], high = place & 1 ? word[3] : word[2];
  return place & 2 ? high : low;
}

// Returns N adjacent numbers from element `index` on.  They lie in N / 4 blocks, or in one more if
// they do not start at a block.
template <int N> __device__ inline Vec<float, N> neighbours(const PhiloxStream &numbers, uint64_t index) {
  constexpr int blocks = (N + 3) / 4;
  uint32_t word[4 * blocks + 4] = {};
  const uint32_t place = index % 4;
#pragma unroll
  for (int b = 0; b <= blocks; ++b)
    if (b < blocks || place + N > 4 * blocks) {
      const PhiloxBlock block = numbers.block(index / 4 + b);
#pragma unroll
      for (int k = 0; k < 4; ++k)
        word[4 * b + k] = block.word[k];
    }
  return each<N>([&](int k) { return unit(pick(word + k, place)); });
}
} // namespace detail

// Uniform numbers in [0, 1) for elements row_base + lane, lane >= 0.
template <int N>
__device__ inline Vec<float, N> philox_uniform(uint64_t row_base, const Vec<int32_t, N> &lane, const int32_t *key,
                                               uint32_t stream) {
  const detail::PhiloxStream numbers(key, stream);
  if (lane.at[N - 1] - lane.at[0] == N - 1)
    return detail::neighbours<N>(numbers, row_base + static_cast<uint32_t>(lane.at[0]));
  return detail::each<N>([&](int k) {
    const uint64_t index = row_base + static_cast<uint32_t>(lane.at[k]);
    return detail::unit(detail::pick(numbers.block(index / 4).word, index % 4));
  });
}

// Uniform number in [0, 1) for element `index`.
__device__ inline float philox_uniform(uint64_t index, const int32_t *key, uint32_t stream) {
  return detail::unit(detail::pick(detail::PhiloxStream(key, stream).block(index / 4).word, index % 4));
}

} // namespace braid
#endif // BRAID_CUDA_LANEPHILOX_H
