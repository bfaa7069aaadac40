//===- LanesTest.cpp - loads, stores, conversions, reductions, launch -----===//

#include "cpu/kernel.h"

#include "cpu/CpuContext.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace braid;

namespace {

// Values that differ and are exact in every type.
template <class T> T value(int i) {
  if constexpr (std::is_same_v<T, bf16>)
    return to_bf16(static_cast<float>(i + 1));
  else if constexpr (std::is_same_v<T, bool>)
    return i % 3 == 0;
  else if constexpr (std::is_same_v<T, int8_t>)
    return static_cast<int8_t>(i % 2 ? -i - 1 : i + 1);
  else
    return static_cast<T>(i + 1);
}
template <class T> bool same(T a, T b) { return std::memcmp(&a, &b, sizeof a) == 0; }

template <class T> class Access : public testing::Test {};
using Types = testing::Types<float, bf16, int32_t, int8_t, bool>;
TYPED_TEST_SUITE(Access, Types);

TYPED_TEST(Access, partialStoresTouchOnlyTheirElements) {
  TypeParam in[W], out[W + 1];
  for (int k = 0; k < W; ++k)
    in[k] = value<TypeParam>(k);
  for (int64_t n = 0; n <= W; ++n) {
    for (int k = 0; k <= W; ++k)
      out[k] = value<TypeParam>(40);
    st(out, ld(in), n);
    for (int k = 0; k <= W; ++k)
      EXPECT_TRUE(same(out[k], k < n ? in[k] : value<TypeParam>(40))) << n << " " << k;
  }
}

TYPED_TEST(Access, partialLoadsFillWithZeros) {
  TypeParam in[W];
  for (int k = 0; k < W; ++k)
    in[k] = value<TypeParam>(k);
  for (int64_t n = 0; n <= W; ++n) {
    auto whole = ld(in), part = ld(in, n);
    for (int k = 0; k < W; ++k)
      EXPECT_EQ(part[k], k < n ? whole[k] : whole[k] - whole[k]) << n << " " << k;
  }
}

TYPED_TEST(Access, stridedAccess) {
  TypeParam in[3 * W], out[3 * W];
  for (int k = 0; k < 3 * W; ++k)
    in[k] = value<TypeParam>(k), out[k] = value<TypeParam>(40);
  for (int64_t n : {0, 1, W - 1, W}) {
    st_strided(out, 3, ld_strided(in, 3, n), n);
    for (int k = 0; k < 3 * W; ++k)
      EXPECT_TRUE(same(out[k], k % 3 == 0 && k / 3 < n ? in[k] : value<TypeParam>(40)));
  }
}

TEST(Lanes, bf16RoundsToEvenAndKeepsSpecials) {
  EXPECT_EQ(round_bf16(1.0f + 0x1p-8f), 1.0f); // tie, to even
  EXPECT_EQ(round_bf16(1.0f + 3 * 0x1p-8f), 1.0f + 0x1p-6f);
  EXPECT_EQ(round_bf16(1.0f + 0x1p-8f + 0x1p-20f), 1.0f + 0x1p-7f);
  EXPECT_EQ(round_bf16(INFINITY), INFINITY);
  EXPECT_EQ(round_bf16(3.4e38f), INFINITY);
  EXPECT_TRUE(std::isnan(round_bf16(NAN)));
  EXPECT_TRUE(std::isnan(round_bf16(bit_cast<float>(0x7f800001u))));
}

TEST(Lanes, conversions) {
  VI i = lane_index(5);
  EXPECT_EQ(i[W - 1], 5 + W - 1);
  EXPECT_EQ(float(to_float(i)[1]), 6.0f);
  EXPECT_EQ(to_int(splat(-2.9f))[0], -2);
  EXPECT_EQ(float(mask_to_float(first_lanes(1))[0]), 1.0f);
  EXPECT_EQ(float(mask_to_float(first_lanes(1))[1]), 0.0f);
  EXPECT_EQ(mask_to_int(first_lanes(1))[0], 1);
}

TEST(Lanes, conversionsToIntsSaturate) {
  struct Case {
    float from;
    int32_t i;
    int64_t l;
    int32_t b;
  };
  const Case cases[] = {{3e9f, INT32_MAX, 3000000000, 127},
                        {-3e9f, INT32_MIN, -3000000000, -128},
                        {0x1p31f, INT32_MAX, int64_t(1) << 31, 127},
                        {-0x1p31f, INT32_MIN, INT32_MIN, -128},
                        {2147483520.0f, 2147483520, 2147483520, 127},
                        {INFINITY, INT32_MAX, INT64_MAX, 127},
                        {-INFINITY, INT32_MIN, INT64_MIN, -128},
                        {0x1p63f, INT32_MAX, INT64_MAX, 127},
                        {-0x1p63f, INT32_MIN, INT64_MIN, -128},
                        {NAN, 0, 0, 0},
                        {128.0f, 128, 128, 127},
                        {-129.9f, -129, -129, -128},
                        {127.9f, 127, 127, 127},
                        {-0.9f, 0, 0, 0}};
  for (const Case &c : cases) {
    EXPECT_EQ(to_int(c.from), c.i) << c.from;
    EXPECT_EQ(to_int(splat(c.from))[W - 1], c.i) << c.from;
    EXPECT_EQ(to_int8(c.from), c.b) << c.from;
    EXPECT_EQ(to_int8(splat(c.from))[W - 1], c.b) << c.from;
    EXPECT_EQ(to_int64(c.from), c.l) << c.from;
  }
}

TEST(Lanes, reductions) {
  V v = to_float(lane_index(1));
  EXPECT_EQ(row_sum(v), W * (W + 1) / 2);
  EXPECT_EQ(row_max(v), W);
  EXPECT_EQ(row_min(v), 1);
  EXPECT_EQ(row_sum(v, 3), 6);
  EXPECT_EQ(row_max(-v, 2), -1);
  EXPECT_EQ(row_min(v - 10.0f, 2), -9);
  EXPECT_EQ(row_sum(lane_index(0)), W * (W - 1) / 2);
  EXPECT_EQ(row_max(lane_index(0)), W - 1);
  EXPECT_TRUE(row_any(first_lanes(1)) && !row_all(first_lanes(1)) && row_all(first_lanes(W)));
  EXPECT_EQ(float(keep(v, 1, -7.0f)[1]), -7.0f);
}

// Adds 1 to each element of a block.
void visitRows(Block block, int32_t *seen) {
  for (int64_t r = block.begin; r < block.end; ++r)
    seen[r] += 1;
}
void visitBlocks(Block block, int32_t *seen, int32_t *ids) {
  visitRows(block, seen);
  ids[block.id] += 1;
}

TEST(Launch, coversEverythingOnce) {
  br_model model{};
  constexpr int64_t wide = 100000; // enough lanes a row to use the threads
  for (int threads : {1, 2, 3}) {
    CpuContext context(model, threads);
    for (int64_t count : {1, 7, 64, 1000})
      for (int64_t lanes : {int64_t{1}, wide}) {
        std::vector<int32_t> rows(count, 0), columns(count, 0);
        launch_rows(&context, count, lanes, visitRows, rows.data());
        EXPECT_EQ(rows, std::vector<int32_t>(count, 1));
        launch_lanes(&context, lanes, count, visitRows, columns.data());
        EXPECT_EQ(columns, std::vector<int32_t>(count, 1));
        std::vector<int32_t> seen(3 * count, 0), ids(count, 0);
        launch_blocks(&context, count, 3, lanes, visitBlocks, seen.data(), ids.data());
        EXPECT_EQ(seen, std::vector<int32_t>(3 * count, 1));
        EXPECT_EQ(ids, std::vector<int32_t>(count, 1));
      }
  }
}

// Sums like generated code; `at(i)` is term i.
template <class F> float longSum(int terms, const F &at) {
  V sums[2] = {};
  Total<V> totals[2] = {};
  for (int i = 0; i < terms; ++i) {
    sums[0] += splat(at(i)), sums[1] += splat(-at(i));
    if (i % 16 == 0)
      carry(sums, totals);
  }
  settle(sums, totals);
  EXPECT_TRUE(same(sums[0][W - 1], sums[0][0]));
  EXPECT_EQ(std::isfinite(sums[0][0]) ? sums[0][0] : 0.0f, std::isfinite(sums[1][0]) ? -sums[1][0] : 0.0f);
  return sums[0][0];
}

// Equal terms are the worst: every addition may round in the same direction.
TEST(LongSums, areAsNearAsThoseOfSixteenTerms) {
  for (int terms : {0, 1, 15, 16, 17, 1000, 300007})
    for (float term : {1.0f, 0.1f, 1e-30f, 3.3333333e20f, 1.9999999f}) {
      double exact = static_cast<double>(term) * terms;
      EXPECT_NEAR(longSum(terms, [&](int) { return term; }), exact, 3e-7 * exact) << terms << " of " << term;
    }
  auto alternating = [](int i) { return i % 2 ? -1e6f : 1e6f + static_cast<float>(i % 4); };
  EXPECT_EQ(longSum(100000, alternating), 100000.0f / 2);
}

TEST(LongSums, ofWhatIsNotFiniteAreWhatPlainOnesAre) {
  for (int place : {0, 5, 16, 40, 99}) {
    auto with = [&](float x) { return longSum(100, [=](int i) { return i == place ? x : 1.0f; }); };
    EXPECT_EQ(with(INFINITY), INFINITY) << place;
    EXPECT_EQ(with(-INFINITY), -INFINITY) << place;
    EXPECT_TRUE(std::isnan(with(NAN))) << place;
  }
  EXPECT_EQ(longSum(100, [](int) { return 3e38f; }), INFINITY);
}

TEST(Launch, tablesRunAsOneVector) {
  br_model model{};
  model.arena_bytes = 1 << 16;
  const Tuple<1> table[] = {{100, {0}}, {1, {1024}}, {5000, {2048}}};
  // With many elements for each lane or row, threads share the work.
  for (auto [threads, each] : {std::pair{1, 1}, {1, 100}, {2, 100}, {5, 100}})
    for (bool byRows : {false, true}) {
      CpuContext context(model, threads);
      Memory memory(&context);
      if (byRows)
        launch_table<1>(&context, memory, table, visitRows, each);
      else
        launch_table(&context, memory, table, visitRows, each);
      const int32_t *arena = memory[0];
      for (const Tuple<1> &tuple : table)
        for (int64_t i = 0; i <= tuple.length; ++i)
          EXPECT_EQ(arena[tuple.operands[0] / 4 + i], i < tuple.length ? 1 : 0);
    }
}

} // namespace
