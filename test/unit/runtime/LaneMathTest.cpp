//===- LaneMathTest.cpp - accuracy of the elementary functions ------------===//
//
// Sweeps all magnitudes, signs, denormals, infinities and NaN in even steps of the bit pattern. Checks each function
// against the error in its header.
//
//===----------------------------------------------------------------------===//

#include "cpu/kernel.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace {

using braid::V;
using braid::W;

// Distance of `got` from the exact value in units in the last place.
double ulpError(float got, double exact) {
  float rounded = static_cast<float>(exact);
  if (std::isnan(exact))
    return std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(rounded) || std::isinf(got))
    return got == rounded ? 0 : INFINITY;
  int exponent;
  std::frexp(exact, &exponent);
  double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
  double error = std::fabs(got - exact) / ulp;
  return std::isnan(error) ? INFINITY : error;
}

template <class Lane, class Scalar, class Exact>
void expectAccurate(double limit, Lane lane, Scalar scalar, Exact exact) {
  constexpr uint32_t step = 4099; // prime: about a million values
  double worst = 0;
  float worstAt = 0;
  for (uint64_t base = 0; base < (uint64_t{1} << 32); base += uint64_t{step} * W) {
    V x;
    for (int k = 0; k < W; ++k)
      x[k] = braid::bit_cast<float>(static_cast<uint32_t>(base + k * step));
    V y = lane(x);
    for (int k = 0; k < W; ++k) {
      double error = ulpError(y[k], exact(static_cast<double>(x[k])));
      if (error > worst)
        worst = error, worstAt = x[k];
    }
    float row = scalar(x[0]);
    ASSERT_TRUE(braid::bit_cast<uint32_t>(row) == braid::bit_cast<uint32_t>(float(y[0])) ||
                (std::isnan(row) && std::isnan(y[0])))
        << "row value and lane differ at " << x[0];
  }
  for (float special : {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 1e-45f, 88.7f, 88.8f, -103.9f, -87.5f,
                        3.4e38f, 0.625f, 9.1f, 1e5f, 2e5f}) {
    float got = scalar(special);
    double error = ulpError(got, exact(special));
    if (error > worst)
      worst = error, worstAt = special;
  }
  EXPECT_LE(worst, limit) << "at " << worstAt;
}

#define ACCURACY(name, limit, exact)                                                                                   \
  TEST(LaneMath, name) {                                                                                               \
    expectAccurate(                                                                                                    \
        limit, [](V x) { return braid::name(x); }, [](float x) { return braid::name(x); },                             \
        [](double x) { return exact; });                                                                               \
  }

ACCURACY(exp, 1.1, std::exp(x))
ACCURACY(exp2, 1.1, std::exp2(x))
ACCURACY(expm1, 1.8, std::expm1(x))
ACCURACY(log, 0.8, std::log(x))
ACCURACY(log1p, 1.5, std::log1p(x))
ACCURACY(tanh, 1.3, std::tanh(x))
ACCURACY(erf, 1.1, std::erf(x))
ACCURACY(sin, 1.6, std::sin(x))
ACCURACY(cos, 1.6, std::cos(x))
// 2e-5 of the result.
ACCURACY(exp_approx, 330, std::exp(x))
ACCURACY(tanh_approx, 330, std::tanh(x))
ACCURACY(sqrt, 0.5, std::sqrt(x))
ACCURACY(rsqrt, 1.5, 1 / std::sqrt(x))
ACCURACY(floor, 0, std::floor(x))
ACCURACY(ceil, 0, std::ceil(x))
ACCURACY(abs, 0, std::fabs(x))

TEST(LaneMath, zeroKeepsItsSign) {
  for (auto f : {+[](float x) { return braid::tanh(x); }, +[](float x) { return braid::erf(x); },
                 +[](float x) { return braid::sin(x); }, +[](float x) { return braid::log1p(x); }}) {
    EXPECT_TRUE(std::signbit(f(-0.0f)));
    EXPECT_FALSE(std::signbit(f(0.0f)));
  }
}

TEST(LaneMath, fmaRoundsOnce) {
  float a = 1.0f + 0x1p-12f, c = -(1.0f + 0x1p-11f);
  EXPECT_EQ(braid::fma(a, a, c), 0x1p-24f);
  EXPECT_EQ(float(braid::fma(braid::splat(a), braid::splat(a), braid::splat(c))[W - 1]), 0x1p-24f);
}

TEST(LaneMath, powIsLibms) {
  for (float x : {0.0f, 0.5f, 2.0f, -3.0f, 100.0f})
    for (float y : {-2.0f, 0.0f, 0.5f, 3.0f}) {
      float expected = std::pow(x, y);
      float lane = braid::pow(braid::splat(x), braid::splat(y))[1];
      EXPECT_TRUE(lane == expected || (std::isnan(lane) && std::isnan(expected))) << x << " " << y;
    }
}

TEST(LaneMath, maximumPropagatesNaN) {
  EXPECT_TRUE(std::isnan(braid::maximum(NAN, 1.0f)));
  EXPECT_TRUE(std::isnan(braid::maximum(1.0f, NAN)));
  EXPECT_TRUE(std::isnan(braid::minimum(NAN, 1.0f)));
  EXPECT_TRUE(std::isnan(braid::minimum(1.0f, NAN)));
  EXPECT_EQ(braid::maxnum(1.0f, NAN), 1.0f);
  EXPECT_EQ(braid::maxnum(NAN, 1.0f), 1.0f);
  V x = braid::splat(1.0f), nan = braid::splat(NAN);
  EXPECT_TRUE(std::isnan(braid::maximum(x, nan)[0]) && std::isnan(braid::maximum(nan, x)[0]));
  EXPECT_EQ(float(braid::maximum(x, x + 1.0f)[0]), 2.0f);
  x[W / 2] = NAN;
  EXPECT_TRUE(std::isnan(braid::row_max(x)));
}

} // namespace
