//===- DivisorsTest.cpp - sizes that ranks divide -------------------------===//

#include "dialects/Interfaces/Divisors.h"
#include "gtest/gtest.h"

using namespace braid;

TEST(Divisors, AreOnBothSides) {
  EXPECT_EQ(nearestDivisibleSizes(18, 4), "4 divides 16 and 20, and 3 and 6 divide 18");
  EXPECT_EQ(nearestDivisibleSizes(64, 6), "6 divides 60 and 66, and 4 and 8 divide 64");
}

TEST(Divisors, MayBeOnOneSide) {
  EXPECT_EQ(nearestDivisibleSizes(6, 8), "8 divides 8, and 6 divides 6");
  EXPECT_EQ(nearestDivisibleSizes(5, 2), "2 divides 4 and 6, and 5 divides 5");
  EXPECT_EQ(nearestDivisibleSizes(1, 4), "4 divides 4");
}

TEST(Divisors, OfSeveralSizesAreTheNearestOfAny) {
  EXPECT_EQ((llvm::ArrayRef<int64_t>{4, 6}), llvm::ArrayRef<int64_t>(nearestDivisors({48, 36, 28}, 5)));
  EXPECT_TRUE(nearestDivisors({}, 5).empty());
  EXPECT_TRUE(nearestDivisors({1}, 5).empty());
}
