//===- Philox.h - counter-based random numbers of the runtime -------------===//
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).  Computes
// four words from a counter and a key, without state.  A number depends only on where it is used,
// so a resumed run needs only the step.
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

// Returns the four words for index `i` of stream `stream`; `third` is the third word of the
// counter.
inline PhiloxWords philoxAt(uint64_t i, uint32_t third, uint32_t stream, uint64_t key) {
  return philox({static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32), third, stream}, key);
}

// Returns a uniform number in [0, bound), by multiplication; its bias is below bound * 2^-64.
inline uint64_t boundedRandom(const PhiloxWords &words, uint64_t bound) {
  uint64_t bits = words[0] | uint64_t{words[1]} << 32;
  return static_cast<uint64_t>((static_cast<unsigned __int128>(bits) * bound) >> 64);
}

} // namespace braid
#endif // BRAID_BASE_PHILOX_H
