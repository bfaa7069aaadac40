//===- PhiloxTest.cpp - known answers of Random123 ------------------------===//

#include "lib/Reference/Philox.h"
#include <gtest/gtest.h>

using namespace braid::reference;

// kat_vectors of Random123: philox4x32, 10 rounds.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, WordsOfABlockAreNeighbours) {
  PhiloxCounter block = philox({5, 1, 7, 3}, {11, 12});
  for (uint64_t word = 0; word < 4; ++word)
    EXPECT_EQ(philoxWord(((uint64_t{1} << 32) + 5) * 4 + word, 7, 3, {11, 12}), block[word]);
}

TEST(Philox, UniformIsHalfOpen) {
  EXPECT_EQ(uniformOf(0), 0.0);
  EXPECT_EQ(uniformOf(255), 0.0);
  EXPECT_LT(uniformOf(0xffffffff), 1.0);
  EXPECT_EQ(uniformOf(0x80000000), 0.5);
}
