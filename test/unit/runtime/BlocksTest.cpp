//===- BlocksTest.cpp - copies between a tensor and blocks of it ----------===//

#include "cpu/Blocks.h"
#include "cpu/CpuContext.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

using namespace braid;

namespace {

std::vector<int32_t> counted(size_t n) {
  std::vector<int32_t> values(n);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

struct Blocks : testing::TestWithParam<int> {
  br_model model{};
  CpuContext context{model, GetParam()};
};

// Columns [2, 4) of [3, 6], and back into another place.
TEST_P(Blocks, copiesColumns) {
  std::vector<int32_t> whole = counted(18), block(6), back(18);
  copy_block(&context, {4, 2, {3, 2}, {6, 1}, {2, 1}}, whole.data(), 2, block.data(), 0);
  EXPECT_EQ(block, (std::vector<int32_t>{3, 4, 9, 10, 15, 16}));
  copy_block(&context, {4, 2, {3, 2}, {2, 1}, {6, 1}}, block.data(), 0, back.data(), 4);
  EXPECT_EQ(back, (std::vector<int32_t>{0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 9, 10, 0, 0, 0, 0, 15, 16}));
}

// A view with exchanged dims.
TEST_P(Blocks, readsAnyStrides) {
  std::vector<int32_t> whole = counted(12), out(12); // [3, 4] as [4, 3]
  copy_block(&context, {4, 2, {4, 3}, {1, 4}, {3, 1}}, whole.data(), 0, out.data(), 0);
  EXPECT_EQ(out, (std::vector<int32_t>{1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12}));
}

// More than one unit of work: many short rows, and few long ones.
TEST_P(Blocks, sharesOutLongCopies) {
  for (auto [rows, lanes] : {std::pair<int64_t, int64_t>{5000, 7}, {3, 40001}, {1, 100000}}) {
    std::vector<int32_t> whole = counted(rows * lanes * 2), out(rows * lanes);
    copy_block(&context, {4, 2, {rows, lanes}, {2 * lanes, 1}, {lanes, 1}}, whole.data(), lanes, out.data(), 0);
    for (int64_t i : {int64_t{0}, lanes - 1, rows * lanes / 2, rows * lanes - 1})
      EXPECT_EQ(out[i], whole[i / lanes * 2 * lanes + lanes + i % lanes]);
  }
}

// Two to four dims of odd sizes. Each memory has its own order of dims, with gaps behind some of them: rows, transposed
// rows, tiles and their edges.
template <class T> void copyAnyShape(br_context *context, std::mt19937 &random) {
  const int32_t dims = 2 + random() % 3;
  BlockCopy copy = {sizeof(T), dims, {}, {}, {}};
  for (int32_t i = 0; i < dims; ++i)
    copy.size[i] = std::vector<int64_t>{1, 2, 3, 7, 31, 33, 65}[random() % (dims > 3 ? 5 : 7)];
  auto lay = [&](int64_t *strides) {
    std::vector<int32_t> order(dims);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    int64_t reach = random() % 4 ? 1 : 2;
    for (int32_t dim : order)
      strides[dim] = reach, reach *= copy.size[dim] + random() % 2;
    return static_cast<size_t>(reach);
  };
  std::vector<T> from(lay(copy.from) + 3), to(lay(copy.to) + 5, T(-1)), expected = to;
  std::generate(from.begin(), from.end(), [&] { return static_cast<T>(random()); });
  std::vector<int64_t> index(dims);
  for (int32_t i = 0; i >= 0;) {
    int64_t fromAt = 3, toAt = 5;
    for (int32_t d = 0; d < dims; ++d)
      fromAt += index[d] * copy.from[d], toAt += index[d] * copy.to[d];
    expected[toAt] = from[fromAt];
    for (i = dims - 1; i >= 0 && ++index[i] == copy.size[i]; --i)
      index[i] = 0;
  }
  copy_block(context, copy, from.data(), 3, to.data(), 5);
  ASSERT_EQ(to, expected) << testing::PrintToString(copy.size) << testing::PrintToString(copy.from)
                          << testing::PrintToString(copy.to);
}

TEST_P(Blocks, copiesAnyShape) {
  std::mt19937 random(GetParam());
  for (int i = 0; i < 100; ++i) {
    copyAnyShape<uint8_t>(&context, random);
    copyAnyShape<uint16_t>(&context, random);
    copyAnyShape<int32_t>(&context, random);
    copyAnyShape<int64_t>(&context, random);
  }
}

TEST_P(Blocks, copiesNothing) {
  int32_t value = 1, out = 2;
  copy_block(&context, {4, 2, {3, 0}, {1, 1}, {1, 1}}, &value, 0, &out, 0);
  EXPECT_EQ(out, 2);
}

TEST_P(Blocks, copiesElementsOfAnySize) {
  std::vector<double> wide{1, 2, 3, 4}, wideOut(2);
  copy_block(&context, {8, 1, {2}, {2}, {1}}, wide.data(), 1, wideOut.data(), 0);
  EXPECT_EQ(wideOut, (std::vector<double>{2, 4}));
  std::vector<uint16_t> half{1, 2, 3, 4}, halfOut(2);
  copy_block(&context, {2, 1, {2}, {2}, {1}}, half.data(), 0, halfOut.data(), 0);
  EXPECT_EQ(halfOut, (std::vector<uint16_t>{1, 3}));
  std::vector<uint8_t> bits{1, 0, 0, 1}, bitsOut(2);
  copy_block(&context, {1, 1, {2}, {3}, {1}}, bits.data(), 0, bitsOut.data(), 0);
  EXPECT_EQ(bitsOut, (std::vector<uint8_t>{1, 1}));
}

// Five elements on four ranks: ranges of two, the last ones short and empty.
TEST_P(Blocks, padsFlatRangesWithZeros) {
  std::vector<int32_t> whole = counted(5), back(5, -1);
  const std::vector<int32_t> expected[] = {{1, 2}, {3, 4}, {5, 0}, {0, 0}};
  for (int64_t number = 0; number < 4; ++number) {
    std::vector<int32_t> range(2, -1);
    take_range(&context, whole.data(), 20, number, 8, range.data());
    EXPECT_EQ(range, expected[number]);
    put_range(&context, range.data(), number, 8, back.data(), 20);
  }
  EXPECT_EQ(back, whole);
}

INSTANTIATE_TEST_SUITE_P(Threads, Blocks, testing::Values(1, 2));

} // namespace
