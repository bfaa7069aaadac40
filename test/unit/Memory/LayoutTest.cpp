//===- LayoutTest.cpp - views composed and inverted -----------------------===//

#include "lib/Memory/Layout.h"
#include "gtest/gtest.h"
#include <random>

using namespace braid;
using Shape = llvm::SmallVector<int64_t>;

namespace {

/// The positions of all elements, in row-major order of `shape`.
std::vector<int64_t> positions(const Shape &shape, int64_t offset, llvm::ArrayRef<int64_t> strides) {
  std::vector<int64_t> result{offset};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    std::vector<int64_t> next;
    for (int64_t base : result)
      for (int64_t i = 0; i < shape[dim]; ++i)
        next.push_back(base + i * strides[dim]);
    result = std::move(next);
  }
  return result;
}

std::vector<int64_t> positions(const Shape &shape, const Layout &layout) {
  return positions(shape, layout.offset, layout.strides);
}

Layout layout(int64_t offset, Shape strides) { return {offset, std::move(strides)}; }

TEST(Layout, ViewOfAContiguousSourceKeepsItsStrides) {
  auto view = composeView({2, 4, 24}, Layout::contiguous({2, 4, 24}), {2, 4, 8}, 8, {96, 24, 1});
  ASSERT_TRUE(view);
  EXPECT_EQ(view->offset, 8);
  EXPECT_EQ(view->strides, Shape({96, 24, 1}));
}

TEST(Layout, ViewOfASliceFollowsIt) {
  // Heads of a slice of width 8 in rows of 24.
  auto view = composeView({2, 4, 8}, layout(16, {96, 24, 1}), {2, 2, 4, 4}, 0, {32, 4, 8, 1});
  ASSERT_TRUE(view);
  EXPECT_EQ(view->offset, 16);
  EXPECT_EQ(view->strides, Shape({96, 4, 24, 1}));
}

TEST(Layout, ViewThatCarriesHasNoStrides) {
  // Rows of 8 in steps of 24 cannot be walked as one vector.
  EXPECT_FALSE(composeView({4, 8}, layout(0, {24, 1}), {32}, 0, {1}));
  EXPECT_FALSE(composeView({4, 8}, layout(0, {24, 1}), {4, 8}, 4, {8, 1}));
}

TEST(Layout, InverseOfHeadsIntoASlice) {
  // [B,S,H*D] is a view of [B,S,H,D], and must become a slice of rows of 24.
  auto source = invertView({2, 4, 2, 4}, {2, 4, 8}, 0, {32, 8, 1}, layout(8, {96, 24, 1}));
  ASSERT_TRUE(source);
  EXPECT_EQ(source->offset, 8);
  EXPECT_EQ(source->strides, Shape({96, 24, 4, 1}));
}

TEST(Layout, InverseOfATransposition) {
  auto source = invertView({3, 5}, {5, 3}, 0, {1, 5}, layout(0, {3, 1}));
  ASSERT_TRUE(source);
  EXPECT_EQ(source->strides, Shape({1, 3}));
}

TEST(Layout, NoInverseOfPartsAndRepetitions) {
  EXPECT_FALSE(invertView({8}, {4}, 0, {1}, layout(0, {1})));
  EXPECT_FALSE(invertView({8}, {4}, 4, {1}, layout(0, {1})));
  EXPECT_FALSE(invertView({4}, {2, 4}, 0, {0, 1}, layout(0, {4, 1})));
}

TEST(Layout, RandomViewsAgreeWithTheirDefinition) {
  std::mt19937_64 random(1);
  auto pick = [&](int64_t limit) { return static_cast<int64_t>(random() % limit); };
  int composed = 0, inverted = 0;
  for (int round = 0; round < 20000; ++round) {
    Shape shape;
    for (int64_t rank = pick(4); rank >= 0; --rank)
      shape.push_back(1 + pick(4));
    // A source in a wider array, or with permuted dims.
    Shape order(shape.size()), strides(shape.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    if (round % 2)
      std::shuffle(order.begin(), order.end(), random);
    int64_t step = 1, elements = 1;
    for (int64_t dim : llvm::reverse(order)) {
      strides[dim] = step;
      step *= shape[dim] + (pick(3) == 0);
      elements *= shape[dim];
    }
    Layout source = layout(pick(5), strides);
    // A view: row-major regrouping, transposition, or random strides.
    Shape viewShape, viewStrides;
    int64_t left = elements, offset = 0;
    while (left > 1) {
      int64_t size = 1 + pick(left);
      while (left % size)
        ++size;
      viewShape.push_back(size);
      left /= size;
    }
    viewStrides = Layout::contiguous(viewShape).strides;
    if (round % 3 == 0)
      for (size_t i = viewShape.size(); i > 1; --i) {
        size_t other = pick(i);
        std::swap(viewShape[i - 1], viewShape[other]);
        std::swap(viewStrides[i - 1], viewStrides[other]);
      }
    if (round % 5 == 0 && !viewShape.empty()) {
      size_t dim = pick(viewShape.size());
      offset = pick(viewShape[dim]) * viewStrides[dim];
      viewShape[dim] -= offset / viewStrides[dim];
    }
    std::vector<int64_t> memory = positions(shape, source);
    if (auto view = composeView(shape, source, viewShape, offset, viewStrides)) {
      ++composed;
      std::vector<int64_t> expected;
      for (int64_t at : positions(viewShape, offset, viewStrides))
        expected.push_back(memory[at]);
      EXPECT_EQ(positions(viewShape, *view), expected);
      if (auto back = invertView(shape, viewShape, offset, viewStrides, *view)) {
        ++inverted;
        EXPECT_EQ(positions(shape, *back), memory);
      }
    }
  }
  EXPECT_GT(composed, 5000);
  EXPECT_GT(inverted, 2000);
}

} // namespace
