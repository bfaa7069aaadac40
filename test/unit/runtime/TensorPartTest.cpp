//===- TensorPartTest.cpp - parts of tensors against their definition -----===//

#include "core/TensorPart.h"
#include "Meshes.h"
#include "core/Mesh.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

using namespace braid;
using namespace braid::test;

namespace {

// Returns the place in memory of a logical index, by the definition in braid_rt.h.
std::map<int64_t, int64_t> placesByDefinition(const br_model &model, const br_tensor &t, int rank) {
  std::map<int64_t, int64_t> places;
  GroupPlace flat = placeInGroup(model, t.flat, rank);
  std::vector<int> order = flatOrder(t);
  int64_t block = 1;
  for (int32_t i = 0; i < t.rank; ++i)
    block *= t.shape[i] / placeInGroup(model, t.dims[i], rank).size;
  const int64_t range = (block + flat.size - 1) / flat.size;
  for (int64_t logical = 0; logical < numElements(t); ++logical) {
    int64_t index[BR_MAX_RANK], rest = logical;
    for (int32_t i = t.rank - 1; i >= 0; --i)
      index[i] = rest % t.shape[i], rest /= t.shape[i];
    bool mine = true;
    int64_t stored = 0, position = 0;
    for (int i : order) {
      GroupPlace shard = placeInGroup(model, t.dims[i], rank);
      int64_t parts = std::max(t.fused[i], 1), length = t.shape[i] / parts, extent = length / shard.size;
      int64_t local = index[i] % length - shard.index * extent;
      mine &= local >= 0 && local < extent;
      local += index[i] / length * extent;
      position = position * extent * parts + local;
      stored += local * t.stride[i];
    }
    if (!mine)
      continue;
    if (flat.size == 1)
      places[logical] = stored;
    else if (position / range == flat.index)
      places[logical] = position % range;
  }
  return places;
}

void expectParts(const RandomTensor &random) {
  const br_model &model = random.model;
  const br_tensor &t = random.tensor;
  const TensorPart logical = wholeTensor({t.shape, t.shape + t.rank});
  std::map<std::map<int64_t, int64_t>, int> firstWith;
  std::map<int64_t, int> holders;
  for (int rank = 0; rank < worldSize(model); ++rank) {
    std::map<int64_t, int64_t> expected = placesByDefinition(model, t, rank), found, saved;
    TensorPart part = partOf(model, t, rank), file = savedPartOf(model, t, rank);
    int64_t last = -1;
    forEachRun(logical, part, [&](const Run &run) {
      for (int64_t i = 0; i < run.count; ++i) {
        EXPECT_GT(run.place + i * run.step, last) << "not in logical order";
        last = run.place + i * run.step;
        EXPECT_TRUE(found.emplace(last, run.otherPlace + i * run.otherStep).second);
      }
    });
    ASSERT_EQ(found, expected) << random.text << " rank " << rank;
    for (auto [index, place] : found)
      EXPECT_LT(place, part.places());

    // In the file's order there are no gaps.
    last = -1;
    forEachRun(file, part, [&](const Run &run) {
      for (int64_t i = 0; i < run.count; ++i)
        EXPECT_EQ(run.place + i * run.step, ++last);
    });
    EXPECT_EQ(last + 1, static_cast<int64_t>(expected.size()));
    EXPECT_EQ(file.places(), last + 1);

    // Windows of the memory are disjoint and complete.
    int64_t seen = 0, split = part.places() / 3;
    for (auto [begin, end] : {std::pair{int64_t{0}, split}, std::pair{split, part.places()}})
      forEachRun(part, begin, end, logical, [&, begin = begin, end = end](const Run &run) {
        seen += run.count;
        EXPECT_GE(run.place, begin);
        EXPECT_LT(run.place + (run.count - 1) * run.step, end);
        EXPECT_EQ(expected.at(run.otherPlace), run.place);
      });
    EXPECT_EQ(seen, static_cast<int64_t>(expected.size()));

    bool first = expected.empty() || firstWith.emplace(expected, rank).second;
    if (!expected.empty()) {
      EXPECT_EQ(isFirstHolder(model, t, rank), first) << random.text << " rank " << rank;
    }
    if (isFirstHolder(model, t, rank))
      for (auto [index, place] : expected)
        ++holders[index];
  }
  EXPECT_EQ(static_cast<int64_t>(holders.size()), numElements(t)) << random.text;
  for (auto [index, count] : holders)
    EXPECT_EQ(count, 1) << "element " << index;
}

TEST(TensorPart, agreesWithTheDefinition) {
  std::mt19937 random(7);
  for (int i = 0; i < 400; ++i)
    expectParts(RandomTensor(random));
}

TEST(TensorPart, copiesBetweenAnyTwoLayouts) {
  std::mt19937 random(11);
  for (int i = 0; i < 200; ++i) {
    RandomTensor a(random), b(random, a);
    const TensorPart logical = wholeTensor({a.tensor.shape, a.tensor.shape + a.tensor.rank});
    std::vector<int32_t> values(numElements(a.tensor)), back(values.size());
    for (size_t k = 0; k < values.size(); ++k)
      values[k] = static_cast<int32_t>(k + 1);
    auto bytes = [](std::vector<int32_t> &v) { return reinterpret_cast<std::byte *>(v.data()); };
    for (int to = 0; to < worldSize(b.model); ++to) {
      TensorPart target = partOf(b.model, b.tensor, to);
      std::vector<int32_t> memory(target.places()), expected(target.places());
      copyShared(target, bytes(expected), logical, bytes(values), 4);
      for (int from = 0; from < worldSize(a.model); ++from) {
        TensorPart source = partOf(a.model, a.tensor, from);
        std::vector<int32_t> part(source.places());
        copyShared(source, bytes(part), logical, bytes(values), 4);
        copyShared(target, bytes(memory), source, bytes(part), 4);
      }
      EXPECT_EQ(memory, expected) << a.text << " to " << b.text;
      copyShared(logical, bytes(back), target, bytes(memory), 4);
    }
    EXPECT_EQ(back, values);
  }
}

TEST(TensorPart, denseTensorsAreOneRun) {
  br_model model{};
  br_tensor t{};
  t.rank = 3, t.dtype = BR_F32, t.bytes = 4 * 24;
  int64_t shape[] = {2, 3, 4}, stride[] = {12, 4, 1};
  std::copy_n(shape, 3, t.shape);
  std::copy_n(stride, 3, t.stride);
  int runs = 0;
  forEachRun(wholeTensor({2, 3, 4}), partOf(model, t, 0), [&](const auto &run) {
    ++runs;
    EXPECT_EQ(run.count, 24);
    EXPECT_EQ(run.step, 1);
    EXPECT_EQ(run.otherStep, 1);
  });
  EXPECT_EQ(runs, 1);
}

TEST(TensorPart, emptyTensorsHaveNoRuns) {
  br_model model{};
  br_tensor t{};
  t.rank = 2, t.dtype = BR_F32;
  t.shape[0] = 3, t.stride[1] = 1;
  forEachRun(wholeTensor({3, 0}), partOf(model, t, 0), [](const auto &) { ADD_FAILURE(); });
}

// Copying many runs of differently stored tensors together gives the same result as copying them one by one.
template <class T> void expectRuns(std::mt19937 &random) {
  std::vector<int64_t> shape(2 + random() % 2), begin(shape.size());
  std::vector<int> order(shape.size());
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] = std::vector<int64_t>{1, 3, 16, 17, 50}[random() % 5], order[i] = static_cast<int>(i);
  std::shuffle(order.begin(), order.end(), random);
  const TensorPart whole = wholeTensor(shape);
  TensorPart other = densePart(begin, shape, order);
  other.first = random() % other.last, other.last -= random() % (other.last - other.first);
  std::vector<T> from(whole.places()), to(other.places()), expected = to;
  std::generate(from.begin(), from.end(), [&] { return static_cast<T>(random()); });
  std::vector<Run> runs;
  forEachRun(whole, other, [&](const Run &run) {
    runs.push_back(run);
    for (int64_t i = 0; i < run.count; ++i)
      expected[run.otherPlace + i * run.otherStep] = from[run.place + i * run.step];
  });
  copyRuns(runs, reinterpret_cast<const std::byte *>(from.data()), reinterpret_cast<std::byte *>(to.data()), sizeof(T));
  ASSERT_EQ(to, expected) << testing::PrintToString(shape) << testing::PrintToString(order);
}

TEST(TensorPart, copiesRunsTogether) {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    expectRuns<uint8_t>(random);
    expectRuns<uint16_t>(random);
    expectRuns<uint32_t>(random);
    expectRuns<uint64_t>(random);
  }
}

} // namespace
