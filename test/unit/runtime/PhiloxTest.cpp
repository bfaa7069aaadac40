//===- PhiloxTest.cpp - against the published known answers ---------------===//

#include "base/Philox.h"
#include "cpu/kernel.h"

#include <gtest/gtest.h>

using namespace braid;

namespace {

struct KnownAnswer {
  PhiloxWords counter;
  uint64_t key;
  PhiloxWords result;
};

// From Random123's kat_vectors, philox4x32 with 10 rounds.
const KnownAnswer knownAnswers[] = {{{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                                    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                                     0xffffffffffffffff,
                                     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                                    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                                     0x299f31d0a4093822,
                                     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};

TEST(Philox, knownAnswers) {
  for (const KnownAnswer &known : knownAnswers)
    EXPECT_EQ(philox(known.counter, known.key), known.result);
}

TEST(Philox, lanesGiveTheKnownAnswers) {
  for (const KnownAnswer &known : knownAnswers) {
    VU zero{};
    detail::PhiloxLanes out = detail::philox(
        {zero + known.counter[0], zero + known.counter[1], zero + known.counter[2], zero + known.counter[3]},
        static_cast<uint32_t>(known.key), static_cast<uint32_t>(known.key >> 32));
    EXPECT_EQ(out.w0[0], known.result[0]);
    EXPECT_EQ(out.w1[W - 1], known.result[1]);
    EXPECT_EQ(out.w2[1], known.result[2]);
    EXPECT_EQ(out.w3[2], known.result[3]);
  }
}

TEST(Philox, uniformIsWordOfItsElement) {
  const int32_t key[4] = {17, -5, 1234, 2};
  uint64_t seed = 17u | uint64_t{static_cast<uint32_t>(-5)} << 32;
  // The last base crosses 32 bits within the lanes.
  for (uint64_t base : {uint64_t{0}, uint64_t{3}, uint64_t{1} << 40, (uint64_t{1} << 32) - 2}) {
    V u = philox_uniform(base, lane_index(0), key, 9);
    for (int k = 0; k < W; ++k) {
      uint64_t i = base + k;
      PhiloxWords words = philoxAt(i / 4, 1234, 9, seed);
      float expected = static_cast<float>(words[i % 4] >> 8) * 0x1p-24f;
      EXPECT_EQ(float(u[k]), expected);
      EXPECT_EQ(philox_uniform(i, key, 9), expected);
    }
  }
}

TEST(Philox, boundedRandomStaysBelow) {
  EXPECT_EQ(boundedRandom({0xffffffff, 0xffffffff, 0, 0}, 10), 9u);
  EXPECT_EQ(boundedRandom({0, 0, 0, 0}, 10), 0u);
}

} // namespace
