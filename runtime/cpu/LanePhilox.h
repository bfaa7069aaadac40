//===- LanePhilox.h - counter-based random numbers for kernels ------------===//
//
// Philox4x32-10 (Salmon et al., 2011): a number is a function of its place, not of earlier draws, so a
// replayed or sharded dropout draws the same bits. Element i of a random tensor takes
//
//   counter = (i / 4 low, i / 4 high, step, stream)
//   key     = (seed low, seed high)
//   word    = output word i % 4
//   u       = (word >> 8) * 2^-24
//
// `key` points to the program's four key words {seed low, seed high, step, microbatch}; the caller has
// already added microbatch * elements to i.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_LANEPHILOX_H
#define BRAID_CPU_LANEPHILOX_H

#include "Lanes.h"

namespace braid {

namespace detail {
constexpr uint32_t philox_m0 = 0xD2511F53u, philox_m1 = 0xCD9E8D57u;
constexpr uint32_t philox_w0 = 0x9E3779B9u, philox_w1 = 0xBB67AE85u;

// Returns the upper 32 bits of m * x.
inline VU mul_high(uint32_t m, VU x) {
#if BRAID_ISA_AVX512 || BRAID_ISA_AVX2
  const VU ms = m + VU{};
  const VU even = bit_cast<VU>(x86::multiply_even(x, ms) >> 32);
  const VU odd = bit_cast<VU>(x86::multiply_even(bit_cast<VU>(bit_cast<VL>(x) >> 32), ms));
  return (lane_index(0) & 1) == 1 ? odd : even;
#else
  for (int k = 0; k < W; ++k)
    x[k] = static_cast<uint32_t>((static_cast<uint64_t>(m) * x[k]) >> 32);
  return x;
#endif
}

struct PhiloxLanes {
  VU w0, w1, w2, w3;
};
inline PhiloxLanes philox(PhiloxLanes c, uint32_t k0, uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    VU high0 = mul_high(philox_m0, c.w0), low0 = c.w0 * philox_m0;
    VU high1 = mul_high(philox_m1, c.w2), low1 = c.w2 * philox_m1;
    c = {high1 ^ c.w1 ^ k0, low1, high0 ^ c.w3 ^ k1, low0};
    k0 += philox_w0;
    k1 += philox_w1;
  }
  return c;
}
} // namespace detail

// Returns uniform numbers in [0, 1) for elements row_base + lane, lane >= 0.
inline V philox_uniform(uint64_t row_base, VI lane, const int32_t *key, uint32_t stream) {
  VU low = bit_cast<VU>(lane) + static_cast<uint32_t>(row_base);
  VM carry = low < bit_cast<VU>(lane);
  VU high = static_cast<uint32_t>(row_base >> 32) - bit_cast<VU>(carry);
  VU zero{};
  detail::PhiloxLanes out =
      detail::philox({(low >> 2) | (high << 30), high >> 2, zero + static_cast<uint32_t>(key[2]), zero + stream},
                     static_cast<uint32_t>(key[0]), static_cast<uint32_t>(key[1]));
  VU word = low & 3u;
  VU bits = word == 0u ? out.w0 : word == 1u ? out.w1 : word == 2u ? out.w2 : out.w3;
  return to_float(bit_cast<VI>(bits >> 8)) * 0x1p-24f;
}

// Returns the number for one element.
inline float philox_uniform(uint64_t index, const int32_t *key, uint32_t stream) {
  return philox_uniform(index, VI{}, key, stream)[0];
}

} // namespace braid
#endif // BRAID_CPU_LANEPHILOX_H
