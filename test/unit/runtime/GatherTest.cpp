//===- GatherTest.cpp - rows by index -------------------------------------===//

#include "base/NumberTypes.h"
#include "cpu/CpuContext.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace braid;

namespace {

TEST(Gather, copiesRowsAndZeroesWhatIsOutside) {
  br_model model{};
  CpuContext context(model, 2);
  std::vector<float> table(10 * 5), out(4 * 5, -1);
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = static_cast<float>(i);
  int32_t ids[] = {3, 9, 0, 10};
  br_gather(&context, BR_F32, 4, 10, 5, table.data(), ids, out.data());
  EXPECT_EQ(out[0], 15);
  EXPECT_EQ(out[9], 49);
  EXPECT_EQ(out[10], 0);
  EXPECT_EQ(out[19], 0);
}

// Sums whose bits depend on their order.
struct Scatter {
  static constexpr int64_t n = 400, rows = 7, width = 33;
  std::vector<int32_t> ids;
  std::vector<float> updates;

  Scatter() : ids(n), updates(n * width) {
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    for (int32_t &id : ids)
      id = static_cast<int32_t>(random() % rows);
    for (float &u : updates)
      u = std::exp(3 * normal(random));
  }
  std::vector<float> run(int threads, bool accumulate) {
    br_model model{};
    CpuContext context(model, threads);
    std::vector<float> out(rows * width, 1.0f);
    br_scatter_add(&context, BR_F32, n, rows, width, ids.data(), updates.data(), accumulate, out.data());
    return out;
  }
};

TEST(ScatterAdd, addsInOrder) {
  Scatter s;
  for (bool accumulate : {false, true}) {
    std::vector<float> expected(Scatter::rows * Scatter::width, accumulate ? 1.0f : 0.0f);
    for (int64_t i = 0; i < Scatter::n; ++i)
      for (int64_t j = 0; j < Scatter::width; ++j)
        expected[s.ids[i] * Scatter::width + j] += s.updates[i * Scatter::width + j];
    EXPECT_EQ(s.run(1, accumulate), expected);
  }
}

TEST(ScatterAdd, sameBitsForAnyThreadCount) {
  Scatter s;
  std::vector<float> one = s.run(1, false);
  for (int threads : {2, 3, 5})
    EXPECT_EQ(s.run(threads, false), one);
}

TEST(ScatterAdd, bf16) {
  br_model model{};
  CpuContext context(model, 2);
  std::vector<uint16_t> updates = {toBFloat16(1.5f), toBFloat16(2.0f), toBFloat16(0.25f)};
  int32_t ids[] = {1, 0, 1};
  std::vector<uint16_t> out(2);
  br_scatter_add(&context, BR_BF16, 3, 2, 1, ids, updates.data(), 0, out.data());
  EXPECT_EQ(fromBFloat16(out[0]), 2.0f);
  EXPECT_EQ(fromBFloat16(out[1]), 1.75f);
}

TEST(NumberTypes, float16) {
  EXPECT_EQ(fromFloat16(0x3c00), 1.0f);
  EXPECT_EQ(fromFloat16(0xc100), -2.5f);
  EXPECT_EQ(fromFloat16(0x0001), 0x1p-24f);
  EXPECT_EQ(fromFloat16(0x7c00), INFINITY);
  EXPECT_TRUE(std::isnan(fromFloat16(0x7e00)));
}

} // namespace
