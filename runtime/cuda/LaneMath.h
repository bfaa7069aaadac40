//===- LaneMath.h - elementary functions on lanes and row values ----------===//
//
// CUDA's single-precision functions, with their documented errors: at most 2 units in the last
// place (erf and tanh reach 2), but 4 for pow.  Division and sqrt round correctly; compile without
// -use_fast_math.  Lanes and row values get the same bits.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_LANEMATH_H
#define BRAID_CUDA_LANEMATH_H

#include "cuda/Lanes.h"

#include <cmath>

namespace braid {

#define BRAID_LANE_FUNCTION(name, function)                                                                            \
  __device__ inline float name(float x) { return function(x); }                                                        \
  template <int N> __device__ inline Vec<float, N> name(const Vec<float, N> &x) {                                      \
    return detail::each<N>([&](int k) { return function(x.at[k]); });                                                  \
  }
BRAID_LANE_FUNCTION(sqrt, ::sqrtf)
BRAID_LANE_FUNCTION(rsqrt, ::rsqrtf)
BRAID_LANE_FUNCTION(floor, ::floorf)
BRAID_LANE_FUNCTION(ceil, ::ceilf)
BRAID_LANE_FUNCTION(abs, ::fabsf)
BRAID_LANE_FUNCTION(exp, ::expf)
BRAID_LANE_FUNCTION(exp2, ::exp2f)
BRAID_LANE_FUNCTION(expm1, ::expm1f)
BRAID_LANE_FUNCTION(log, ::logf)
BRAID_LANE_FUNCTION(log1p, ::log1pf)
BRAID_LANE_FUNCTION(tanh, ::tanhf)
BRAID_LANE_FUNCTION(erf, ::erff)
BRAID_LANE_FUNCTION(sin, ::sinf)
BRAID_LANE_FUNCTION(cos, ::cosf)
#undef BRAID_LANE_FUNCTION

#define BRAID_LANE_FUNCTION(name, function)                                                                            \
  __device__ inline float name(float x, float y) { return function(x, y); }                                            \
  template <int N> __device__ inline Vec<float, N> name(const Vec<float, N> &x, const Vec<float, N> &y) {              \
    return detail::each<N>([&](int k) { return function(x.at[k], y.at[k]); });                                         \
  }
BRAID_LANE_FUNCTION(copysign, ::copysignf)
BRAID_LANE_FUNCTION(pow, ::powf)
#undef BRAID_LANE_FUNCTION

// 2^(x * log2(e)), with denormals as zero; its relative error is about (2 + |x|) * 2^-24.
__device__ inline float exp_approx(float x) { return exp2_approx(x * 1.44269504f); }
template <int N> __device__ inline Vec<float, N> exp_approx(const Vec<float, N> &x) {
  return detail::each<N>([&](int k) { return exp_approx(x.at[k]); });
}
// Same as tanh: a kernel that calls it is limited by memory, so an approximation gains nothing.
template <class X> __device__ inline X tanh_approx(const X &x) { return tanh(x); }

__device__ inline float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
template <int N>
__device__ inline Vec<float, N> fma(const Vec<float, N> &a, const Vec<float, N> &b, const Vec<float, N> &c) {
  return detail::each<N>([&](int k) { return ::fmaf(a.at[k], b.at[k], c.at[k]); });
}

__device__ inline int32_t abs(int32_t x) { return x < 0 ? -x : x; }
__device__ inline int64_t abs(int64_t x) { return x < 0 ? -x : x; }
template <int N> __device__ inline Vec<int32_t, N> abs(const Vec<int32_t, N> &x) {
  return detail::each<N>([&](int k) { return abs(x.at[k]); });
}

} // namespace braid
#endif // BRAID_CUDA_LANEMATH_H
