//===- InitialValuesTest.cpp - what tensors start with
//-----------------------===//

#include "core/InitialValues.h"
#include "core/LogicalOrder.h"
#include "cpu/Threads.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace braid;

namespace {

br_tensor matrix(br_init_kind init, double a, double b) {
  br_tensor t{};
  t.name = "w";
  t.cause = "parameters";
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
  initialize(model, reinterpret_cast<std::byte *>(arena.data()), seed, threads);
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

TEST(InitialValues, logicalCopiesRoundTrip) {
  br_tensor t = matrix(BR_INIT_NORMAL, 0, 1);
  t.shape[0] = 20, t.shape[1] = 3;
  t.stride[0] = 1, t.stride[1] = 25; // transposed, with gaps
  std::vector<float> stored(75), logical(60), copy(75);
  for (int i = 0; i < 75; ++i)
    stored[i] = static_cast<float>(i);
  auto bytes = [](std::vector<float> &v) {
    return reinterpret_cast<std::byte *>(v.data());
  };
  readLogical(t, bytes(stored), 0, 60, bytes(logical));
  EXPECT_EQ(logical[3 * 4 + 2], 4 + 25 * 2);
  writeLogical(t, bytes(copy), 0, 31, bytes(logical));
  writeLogical(t, bytes(copy), 31, 60, bytes(logical) + 31 * 4);
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 3; ++j)
      EXPECT_EQ(copy[i + 25 * j], stored[i + 25 * j]);
}

} // namespace
