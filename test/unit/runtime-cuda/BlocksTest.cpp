//===- BlocksTest.cpp - copies of blocks, on the device ---------------------===//

#include "cuda/Blocks.h"

#include "Device.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace braid;
using namespace braid::test;

namespace {

std::vector<int32_t> counted(size_t n) {
  std::vector<int32_t> values(n);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

// Columns [2, 4) of [3, 6], and back into another place.
TEST(CudaBlocks, copiesColumns) {
  br_context context;
  const Memory m(&context);
  OnDevice<int32_t> whole(counted(18)), block(std::vector<int32_t>(6)), back(std::vector<int32_t>(18));
  copy_block(m, {4, 2, {3, 2}, {6, 1}, {2, 1}}, whole.data(), 2, block.data(), 0);
  EXPECT_EQ(block.read(), (std::vector<int32_t>{3, 4, 9, 10, 15, 16}));
  copy_block(m, {4, 2, {3, 2}, {2, 1}, {6, 1}}, block.data(), 0, back.data(), 4);
  EXPECT_EQ(back.read(), (std::vector<int32_t>{0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 9, 10, 0, 0, 0, 0, 15, 16}));
  EXPECT_EQ(context.error, "");
}

// Two to four dims, each memory with its dims in an order of its own and gaps behind
// some of them.
template <class T> void copyAnyShape(br_context &context, std::mt19937 &random) {
  const int32_t dims = 2 + random() % 3;
  BlockCopy copy = {sizeof(T), dims, {}, {}, {}};
  for (int32_t i = 0; i < dims; ++i)
    copy.size[i] = std::vector<int64_t>{1, 2, 3, 8, 16, 33, 64}[random() % (dims > 3 ? 5 : 7)];
  const bool sameOrder = random() % 2;
  std::vector<int32_t> order(dims);
  auto lay = [&](int64_t *strides) {
    std::iota(order.rbegin(), order.rend(), 0);
    if (!sameOrder)
      std::shuffle(order.begin(), order.end(), random);
    int64_t reach = random() % 4 ? 1 : 2;
    for (int32_t dim : order)
      strides[dim] = reach, reach *= copy.size[dim] + random() % 3 * 4;
    return static_cast<size_t>(reach);
  };
  const int64_t start = random() % 2 ? 0 : 3, target = random() % 2 ? 0 : 4;
  std::vector<T> from(lay(copy.from) + start), to(lay(copy.to) + target, T(-1)), wanted = to;
  std::generate(from.begin(), from.end(), [&] { return static_cast<T>(random()); });
  std::vector<int64_t> index(dims);
  for (int32_t i = 0; i >= 0;) {
    int64_t fromAt = start, toAt = target;
    for (int32_t d = 0; d < dims; ++d)
      fromAt += index[d] * copy.from[d], toAt += index[d] * copy.to[d];
    wanted[toAt] = from[fromAt];
    for (i = dims - 1; i >= 0 && ++index[i] == copy.size[i]; --i)
      index[i] = 0;
  }
  OnDevice<T> source(from), result(to);
  copy_block(Memory(&context), copy, source.data(), start, result.data(), target);
  ASSERT_EQ(result.read(), wanted) << testing::PrintToString(copy.size) << testing::PrintToString(copy.from)
                                   << testing::PrintToString(copy.to);
}

TEST(CudaBlocks, copiesAnyShape) {
  br_context context;
  std::mt19937 random(1);
  for (int i = 0; i < 25; ++i) {
    copyAnyShape<uint8_t>(context, random);
    copyAnyShape<uint16_t>(context, random);
    copyAnyShape<int32_t>(context, random);
    copyAnyShape<int64_t>(context, random);
  }
  EXPECT_EQ(context.error, "");
}

TEST(CudaBlocks, copiesNothing) {
  br_context context;
  OnDevice<int32_t> value({1}), out({2});
  copy_block(Memory(&context), {4, 2, {3, 0}, {1, 1}, {1, 1}}, value.data(), 0, out.data(), 0);
  EXPECT_EQ(out.read(), std::vector<int32_t>{2});
}

// Copies rows 16 bytes at a time if both memories are aligned for this.
TEST(CudaBlocks, widensUnits) {
  auto unit = [](BlockCopy copy, uint64_t from, uint64_t to) {
    CopyLoops loops = loops_of(copy);
    widen(loops, from, to);
    return loops.bytes;
  };
  const BlockCopy rows = {2, 2, {3, 8}, {16, 1}, {8, 1}};
  EXPECT_EQ(unit(rows, 0, 0), 16);
  EXPECT_EQ(unit(rows, 8, 0), 8);
  EXPECT_EQ(unit(rows, 2, 16), 2);
  EXPECT_EQ(unit({2, 2, {3, 6}, {16, 1}, {8, 1}}, 0, 0), 4);
  EXPECT_EQ(unit({2, 2, {3, 8}, {17, 1}, {8, 1}}, 0, 0), 2);
  EXPECT_EQ(unit({2, 2, {3, 8}, {1, 3}, {8, 1}}, 0, 0), 2);
}

// Five elements on four ranks: ranges of two, the last ones short and empty.
TEST(CudaBlocks, padsFlatRangesWithZeros) {
  br_context context;
  const Memory m(&context);
  OnDevice<int32_t> whole(counted(5)), back(std::vector<int32_t>(5, -1));
  const std::vector<int32_t> wanted[] = {{1, 2}, {3, 4}, {5, 0}, {0, 0}};
  for (int64_t number = 0; number < 4; ++number) {
    OnDevice<int32_t> range(std::vector<int32_t>(2, -1));
    take_range(m, whole.data(), 20, number, 8, range.data());
    EXPECT_EQ(range.read(), wanted[number]);
    put_range(m, range.data(), number, 8, back.data(), 20);
  }
  EXPECT_EQ(back.read(), counted(5));
}

TEST(CudaBlocks, storesTheRanksNumber) {
  br_context context;
  context.index = 3;
  OnDevice<int32_t> out({0});
  axis_index(Memory(&context), 1, out.data());
  EXPECT_EQ(out.read(), std::vector<int32_t>{3});
}

} // namespace
