//===- Philox.h - counter-based random numbers of the runtime -------------===//
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// 2011).  Four words from a counter and a key, and no state: where a number is
// used determines it, so a resumed run needs to save nothing but the step.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_BASE_PHILOX_H
#define BRAID_BASE_PHILOX_H

#include <array>
#include <cstdint>

namespace braid {

using PhiloxWords = std::array<uint32_t, 4>;

inline PhiloxWords philox(PhiloxWords c, uint64_t key) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t{0xD2511F53u} * c[0], p1 = uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

// A counter for place `i` of stream `stream`.
inline PhiloxWords philoxAt(uint64_t i, uint32_t third, uint32_t stream, uint64_t key) {
  return philox({static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32), third, stream}, key);
}

// Uniform in [0, bound), by multiplication: the bias is below bound * 2^-64.
inline uint64_t boundedRandom(const PhiloxWords &words, uint64_t bound) {
  uint64_t bits = words[0] | uint64_t{words[1]} << 32;
  return static_cast<uint64_t>((static_cast<unsigned __int128>(bits) * bound) >> 64);
}

} // namespace braid
#endif // BRAID_BASE_PHILOX_H
