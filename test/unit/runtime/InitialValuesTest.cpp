//===- InitialValuesTest.cpp - what tensors start with --------------------===//

#include "train/InitialValues.h"
#include "Meshes.h"
#include "base/NumberTypes.h"
#include "core/Mesh.h"
#include "core/TensorPart.h"
#include "host/Threads.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace braid;

namespace {

br_tensor matrix(br_init_kind init, double a, double b) {
  br_tensor t{};
  t.name = "w";
  t.category = BR_PARAMETERS;
  t.dtype = BR_F32;
  t.rank = 2;
  t.shape[0] = 300, t.shape[1] = 200;
  t.stride[0] = 200, t.stride[1] = 1;
  t.bytes = 300 * 200 * 4;
  t.init = init, t.init_a = a, t.init_b = b;
  t.stream = 7;
  return t;
}

std::vector<float> initialized(const br_tensor &t, uint64_t seed, int threads) {
  br_model model{};
  model.tensors = &t;
  model.n_tensors = 1;
  std::vector<float> arena(300 * 200);
  setThreads(threads);
  initialize(model, t, reinterpret_cast<std::byte *>(arena.data()), seed, threads, 0);
  return arena;
}

TEST(InitialValues, normalHasItsMoments) {
  std::vector<float> x = initialized(matrix(BR_INIT_NORMAL, 1.0, 0.02), 3, 2);
  double sum = 0, squares = 0;
  for (float v : x)
    sum += v, squares += (v - 1.0) * (v - 1.0);
  EXPECT_NEAR(sum / x.size(), 1.0, 4 * 0.02 / std::sqrt(60000.0));
  EXPECT_NEAR(std::sqrt(squares / x.size()), 0.02, 0.0003);
}

TEST(InitialValues, uniformStaysInRange) {
  std::vector<float> x = initialized(matrix(BR_INIT_UNIFORM, -2, 3), 3, 2);
  double sum = 0;
  for (float v : x) {
    ASSERT_TRUE(v >= -2 && v < 3);
    sum += v;
  }
  EXPECT_NEAR(sum / x.size(), 0.5, 0.03);
}

TEST(InitialValues, constants) {
  EXPECT_EQ(initialized(matrix(BR_INIT_ONES, 0, 0), 1, 1)[5], 1);
  EXPECT_EQ(initialized(matrix(BR_INIT_CONSTANT, 0.25, 0), 1, 1)[5], 0.25f);
  EXPECT_EQ(initialized(matrix(BR_INIT_ZEROS, 0.25, 0), 1, 1)[5], 0);
}

TEST(InitialValues, dependOnSeedStreamAndLogicalIndexOnly) {
  br_tensor t = matrix(BR_INIT_NORMAL, 0, 1);
  std::vector<float> a = initialized(t, 3, 1);
  EXPECT_EQ(a, initialized(t, 3, 3));
  EXPECT_NE(a, initialized(t, 4, 1));
  br_tensor other = t;
  other.stream = 8;
  EXPECT_NE(a, initialized(other, 3, 1));

  br_tensor transposed = t;
  transposed.stride[0] = 1, transposed.stride[1] = 300;
  std::vector<float> b = initialized(transposed, 3, 2);
  for (int i = 0; i < 300; ++i)
    for (int j = 0; j < 200; ++j)
      ASSERT_EQ(a[i * 200 + j], b[j * 300 + i]);
}

// For every type, the number is the definition's, rounded (or truncated).
TEST(InitialValues, everyTypeHoldsTheSameNumbers) {
  for (br_init_kind init : {BR_INIT_NORMAL, BR_INIT_UNIFORM})
    for (br_dtype dtype : {BR_F64, BR_F32, BR_BF16, BR_I32, BR_I64, BR_I1, BR_I8}) {
      br_tensor t = matrix(init, 1, 3);
      t.shape[0] = 30, t.shape[1] = 70, t.stride[0] = 1, t.stride[1] = 30;
      const int64_t size = elementSize(t.dtype = dtype);
      t.bytes = 30 * 70 * size;
      br_model model{};
      model.tensors = &t, model.n_tensors = 1;
      std::vector<std::byte> memory(t.bytes, std::byte{1}), expected(8);
      initialize(model, t, memory.data(), 3, 2, 0);
      for (int64_t i = 0; i < 30 * 70; ++i) {
        putNumber(dtype, expected.data(), initialValue(t, 3, i));
        const std::byte *found = memory.data() + (i / 70 + i % 70 * 30) * size;
        ASSERT_TRUE(std::equal(found, found + size, expected.data())) << typeName(dtype) << " " << i;
      }
    }
}

// Every rank's part equals that part of a single rank's tensor, and padding is zero.
TEST(InitialValues, partsAreThoseOfTheWhole) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    test::RandomTensor sharded(random, BR_F32);
    br_tensor &t = sharded.tensor;
    t.init = i % 2 ? BR_INIT_NORMAL : BR_INIT_UNIFORM;
    t.init_a = -0.5, t.init_b = 1, t.stream = 7;
    sharded.model.tensors = &t, sharded.model.n_tensors = 1;
    const TensorPart logical = wholeTensor({t.shape, t.shape + t.rank});
    std::vector<float> gathered(numElements(t));
    for (int rank = 0; rank < worldSize(sharded.model); ++rank) {
      std::vector<float> memory(t.bytes / 4, 5.0f);
      auto *bytes = reinterpret_cast<std::byte *>(memory.data());
      initialize(sharded.model, t, bytes, 3, 2, rank);
      TensorPart part = partOf(sharded.model, t, rank);
      copyShared(logical, reinterpret_cast<std::byte *>(gathered.data()), part, bytes, 4);
      forEachRun(part, logical, [&](const auto &run) {
        for (int64_t k = 0; k < run.count; ++k)
          memory[run.place + k * run.step] = 0;
      });
      for (float x : memory)
        ASSERT_EQ(x, 0) << sharded.text << " rank " << rank;
    }
    for (int64_t k = 0; k < numElements(t); ++k)
      ASSERT_EQ(gathered[k], static_cast<float>(initialValue(t, 3, k)));
  }
}

} // namespace
