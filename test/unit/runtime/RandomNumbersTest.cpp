//===- RandomNumbersTest.cpp - many random numbers at once ----------------===//

#include "base/RandomNumbers.h"

#include <array>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace braid;

namespace {

constexpr int64_t batch = 512;

// Calls f(index, number) for `count` numbers, a multiple of `batch`, from every
// kernel; indices are `step` apart and so reach beyond 32 bits.
template <class F>
void forNumbers(DrawFunction draw, const RandomStream &stream, int64_t count, uint64_t step, const F &f) {
  std::array<uint64_t, batch> index;
  std::array<float, batch> numbers;
  for (int64_t first = 0; first < count; first += batch) {
    for (int64_t i = 0; i < batch; ++i)
      index[i] = (first + i) * step;
    draw(stream, index.data(), batch, numbers.data());
    for (int64_t i = 0; i < batch; ++i)
      f(index[i], numbers[i]);
  }
}

struct RandomNumbers : testing::TestWithParam<RandomKernel> {};

TEST_P(RandomNumbers, normalsAreThoseOfTheDefinition) {
  const RandomStream streams[] = {{1, 7, 0, 0.02}, {~0ull, 8, 1, 0.5}, {3, ~0u, -1e6, 1e-3}, {4, 9, 0, -1e-44}};
  for (const RandomStream &stream : streams)
    forNumbers(GetParam().normals, stream, 64 * batch, 0x123456789, [&](uint64_t index, float number) {
      ASSERT_EQ(std::bit_cast<uint32_t>(number), std::bit_cast<uint32_t>(static_cast<float>(normalAt(stream, index))))
          << "of " << index << " with mean " << stream.a;
    });
}

// Deviations so small that, within a kernel's error, a fifth of the numbers lies halfway between two floats.
TEST_P(RandomNumbers, asksTheDefinitionWhereItCannotTell) {
  const RandomStream stream{5, 1, 1 + 0x1p-24, 0x1p-48};
  int up = 0;
  forNumbers(GetParam().normals, stream, 8 * batch, 1, [&](uint64_t index, float number) {
    ASSERT_EQ(number, static_cast<float>(normalAt(stream, index)));
    up += number > 1;
  });
  EXPECT_NEAR(up, 4 * batch, 4 * std::sqrt(2 * batch));
}

TEST_P(RandomNumbers, uniformsAreThoseOfTheDefinition) {
  for (const RandomStream &stream : {RandomStream{1, 7, 0, 1}, {2, 8, -0.3, 0.1}, {3, 9, 5, -1e-7}})
    forNumbers(GetParam().uniforms, stream, 64 * batch, 0x123456789, [&](uint64_t index, float number) {
      ASSERT_EQ(std::bit_cast<uint32_t>(number), std::bit_cast<uint32_t>(static_cast<float>(uniformAt(stream, index))));
    });
}

TEST_P(RandomNumbers, fewAreLikeMany) {
  const RandomStream stream{1, 2, 0, 1};
  std::array<uint64_t, drawRoom> index{5, 6, 7};
  std::array<float, drawRoom> numbers;
  for (int64_t count = 1; count <= 3; ++count) {
    GetParam().normals(stream, index.data(), count, numbers.data());
    for (int64_t i = 0; i < count; ++i)
      EXPECT_EQ(numbers[i], static_cast<float>(normalAt(stream, 5 + i)));
  }
}

// Of 4 million: mean, variance, skewness, kurtosis, and how many lie further out than
// 2, 3, 4 and 5 standard deviations; each within five of its own deviations.
TEST_P(RandomNumbers, normalsHaveTheirMomentsAndTails) {
  constexpr int64_t count = 8192 * batch;
  const double n = count;
  std::array<double, 5> moment{};
  std::array<int64_t, 6> beyond{};
  double most = 0;
  forNumbers(GetParam().normals, {11, 3, 0, 1}, count, 1, [&](uint64_t, float x) {
    double power = 1;
    for (double &sum : moment)
      sum += power, power *= x;
    for (int i = 0; i < 6; ++i)
      beyond[i] += std::abs(x) > i;
    most = std::max<double>(most, std::abs(x));
  });
  EXPECT_NEAR(moment[1] / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(moment[2] / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(moment[3] / n, 0, 5 * std::sqrt(15 / n));
  EXPECT_NEAR(moment[4] / n, 3, 5 * std::sqrt(96 / n));
  for (int i = 1; i < 6; ++i) {
    const double share = std::erfc(i / std::sqrt(2.0));
    EXPECT_NEAR(beyond[i], share * n, 5 * std::sqrt(share * n)) << "beyond " << i;
  }
  EXPECT_GT(most, 4.5);
  EXPECT_LE(most, std::sqrt(2 * std::log(0x1p32)));
}

TEST_P(RandomNumbers, uniformsFillTheirRange) {
  constexpr int64_t count = 2048 * batch;
  std::array<int64_t, 16> bins{};
  forNumbers(GetParam().uniforms, {11, 3, -2, 6}, count, 1, [&](uint64_t, float x) {
    ASSERT_TRUE(x >= -2 && x < 6);
    ++bins[static_cast<int>((x + 2) * 2)];
  });
  for (int64_t found : bins)
    EXPECT_NEAR(found, count / 16.0, 5 * std::sqrt(count / 16.0));
}

INSTANTIATE_TEST_SUITE_P(Kernels, RandomNumbers, testing::ValuesIn(randomKernels()),
                         [](const auto &info) { return std::string(info.param.instructions); });

} // namespace
