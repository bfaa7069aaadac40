//===- BlocksTest.cpp - copies between a tensor and blocks of it ----------===//

#include "cpu/Blocks.h"
#include "core/Context.h"

#include <gtest/gtest.h>
#include <numeric>
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
  br_context context{model, GetParam()};
};

// Columns [2, 4) of [3, 6], and back into another place.
TEST_P(Blocks, copiesColumns) {
  std::vector<int32_t> whole = counted(18), block(6), back(18);
  copy_block(&context, {4, 2, {3, 2}, {6, 1}, {2, 1}}, whole.data(), 2, block.data(), 0);
  EXPECT_EQ(block, (std::vector<int32_t>{3, 4, 9, 10, 15, 16}));
  copy_block(&context, {4, 2, {3, 2}, {2, 1}, {6, 1}}, block.data(), 0, back.data(), 4);
  EXPECT_EQ(back, (std::vector<int32_t>{0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 9, 10, 0, 0, 0, 0, 15, 16}));
}

// A view with exchanged dims is read lane by lane.
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
