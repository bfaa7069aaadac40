//===- ExponentialsTest.cpp - maxima and sums of exponentials, on the device ===//

#include "cuda/kernel.h"

#include "Device.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace braid;
using namespace braid::test;

namespace {

constexpr int threads = 64, width = 8;

__global__ void __launch_bounds__(threads)
    sums_kernel(const float *__restrict__ x, int lanes, float *__restrict__ out) {
  Exponentials<width> exps;
  each_vector<width, int>(threadIdx.x * width, lanes, threads * width,
                          [&](int l, auto n) { exps.add(keep(ld_strided<width>(x + l, 1, n), n, -INFINITY)); });
  const float max = row_max<threads>(exps);
  const float sum = row_sum<threads>(exps, max);
  if (leader<threads>()) {
    st1(out, max);
    st1(out + 1, sum);
  }
}

struct Row {
  float max, sum;
};

Row onDevice(const std::vector<float> &x) {
  br_context context;
  OnDevice<float> in(x), out(std::vector<float>(2));
  launch(Memory(&context), 1, threads, preloaded<sums_kernel>(), in.data(), static_cast<int>(x.size()), out.data());
  const std::vector<float> row = out.read();
  return {row[0], row[1]};
}

std::vector<float> logits(int lanes, float mean, float deviation, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(mean, deviation);
  std::vector<float> x(lanes);
  for (float &value : x)
    value = normal(engine);
  return x;
}

// Error in units of 2^-24.
double errorOf(const std::vector<float> &x) {
  const Row row = onDevice(x);
  const float max = *std::max_element(x.begin(), x.end());
  EXPECT_EQ(row.max, max);
  double sum = 0;
  for (float value : x)
    sum += std::exp(static_cast<double>(value) - max);
  return std::abs(row.sum - sum) / sum * 0x1p24;
}

// Like logits in bf16: the difference of two is exact.
std::vector<float> rounded(std::vector<float> x) {
  for (float &value : x)
    value = __bfloat162float(__float2bfloat16_rn(value));
  return x;
}

TEST(Exponentials, areWithinTwoUnitsOfF64) {
  unsigned seed = 0;
  for (int lanes : {1, 7, 512, 1000, 20011})
    for (float mean : {-80.0f, 0.0f, 300.0f})
      for (float deviation : {0.0f, 0.02f, 1.0f, 8.0f}) {
        const std::vector<float> x = logits(lanes, mean, deviation, ++seed);
        EXPECT_LE(errorOf(rounded(x)), 4) << lanes << " " << mean << " " << deviation;
        EXPECT_LE(errorOf(x), 6) << lanes << " " << mean << " " << deviation;
      }
}

// Errors that do not cancel: all lanes except one are equal, and the maximum comes last.
TEST(Exponentials, growAsTheyMayWhereAllLanesAreAlike) {
  for (float distance : {1.0f, 3.3f, 7.7f, 15.1f}) {
    std::vector<float> x(20011, 0.3f);
    x.back() += distance;
    EXPECT_LE(errorOf(x), 4 + 2.2 * std::log(x.size())) << distance;
  }
}

TEST(Exponentials, countWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x(700, -infinity);
  EXPECT_TRUE(std::isnan(onDevice(x).sum));
  EXPECT_EQ(onDevice(x).max, -infinity);
  x[650] = 2;
  x[3] = 2;
  EXPECT_EQ(onDevice(x).sum, 2);
  EXPECT_EQ(onDevice(x).max, 2);
  x[80] = infinity;
  EXPECT_TRUE(std::isnan(onDevice(x).sum));
  x[80] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(onDevice(x).sum));
  EXPECT_TRUE(std::isnan(onDevice(x).max));
}

} // namespace
