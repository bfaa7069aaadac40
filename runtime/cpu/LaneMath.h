//===- LaneMath.h - elementary functions on lanes and rows ----------------===//
//
// Polynomial versions of the functions that training needs. Worst error over the whole range, in units in
// the last place of float, compared with libm in double (checked by test/unit/runtime/LaneMathTest.cpp):
//
//   exp exp2 1.1   expm1 1.8   log 0.8   log1p 1.5   tanh 1.3   erf 1.1
//   sin cos 1.6
//   sqrt, floor, ceil, abs, fma: exact;  rsqrt 1.5 (a root and a division)
//   pow: libm's, a lane at a time
//
// Infinities, NaN and denormals are handled as in libm. A row value is computed as lane 0 of a lane value,
// so both have the same bits.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_LANEMATH_H
#define BRAID_CPU_LANEMATH_H

#include "LaneReduce.h"
#include "Lanes.h"

#include <limits>

namespace braid {

//===----------------------------------------------------------------------===//
// Functions with one instruction, if the target has it
//===----------------------------------------------------------------------===//

namespace detail {
template <class F> inline V each(V x, F f) {
  for (int k = 0; k < W; ++k)
    x[k] = f(x[k]);
  return x;
}
} // namespace detail

#if BRAID_ISA_AVX512 || BRAID_ISA_AVX2
inline V sqrt(V x) { return x86::sqrt(x); }
inline V floor(V x) { return x86::round<x86::Down>(x); }
inline V ceil(V x) { return x86::round<x86::Up>(x); }
#else
inline V sqrt(V x) {
  return detail::each(x, [](float e) { return __builtin_sqrtf(e); });
}
inline V floor(V x) {
  return detail::each(x, [](float e) { return __builtin_floorf(e); });
}
inline V ceil(V x) {
  return detail::each(x, [](float e) { return __builtin_ceilf(e); });
}
#endif

#if BRAID_ISA_AVX512 || (BRAID_ISA_AVX2 && defined(__FMA__))
inline V fma(V a, V b, V c) { return x86::fma(a, b, c); }
#else
inline V fma(V a, V b, V c) {
  for (int k = 0; k < W; ++k)
    a[k] = __builtin_fmaf(a[k], b[k], c[k]);
  return a;
}
#endif

inline V rsqrt(V x) { return 1.0f / sqrt(x); }
inline V abs(V x) { return bit_cast<V>(bit_cast<VI>(x) & 0x7fffffff); }
inline VI abs(VI x) { return x < 0 ? -x : x; }
inline V neg(V x) { return -x; }
inline V copysign(V x, V sign) {
  return bit_cast<V>((bit_cast<VI>(x) & 0x7fffffff) | (bit_cast<VI>(sign) & INT32_MIN));
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

namespace detail {
// Returns a * b + c by the fastest method: with one rounding or two.
inline V madd(V a, V b, V c) {
#if BRAID_ISA_AVX512 || defined(__FMA__)
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}
inline V madd(V a, float b, V c) { return madd(a, splat(b), c); }
inline V madd(V a, V b, float c) { return madd(a, b, splat(c)); }

// Returns the polynomial with these coefficients, the highest power first, by Horner's rule.
template <class... C> inline V polynomial(V x, float first, C... rest) {
  V value = splat(first);
  ((value = madd(value, x, rest)), ...);
  return value;
}

// The integer nearest to x, |x| < 2^22, also as a float.
struct Rounded {
  VI i;
  V f;
};
inline Rounded nearest(V x) {
  constexpr float magic = 12582912.0f; // 1.5 * 2^23: its last bit has the value 1
  V shifted = x + magic;
  return {bit_cast<VI>(bit_cast<VU>(shifted) - bit_cast<uint32_t>(magic)), shifted - magic};
}

// Returns (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
inline V exp_tail(V r) {
  return polynomial(r, 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f,
                    5.0000001201e-1f);
}

// Returns p * 2^n for |n| < 252. Without an instruction for it, multiplies by two factors, so that neither
// leaves the normal range and only the last product rounds.
inline V scale(V p, Rounded n) {
#if BRAID_ISA_AVX512
  return x86::scale(p, n.f);
#else
  VI half = n.i >> 1;
  V first = bit_cast<V>((half + 127) << 23);
  V second = bit_cast<V>((n.i - half + 127) << 23);
  return p * first * second;
#endif
}

// Keeps NaN: the instructions return their second operand if the operands are unordered.
#if BRAID_ISA_AVX512
inline V at_least(V x, float low) { return x86::max(splat(low), x); }
inline V at_most(V x, float high) { return x86::min(splat(high), x); }
#else
inline V at_least(V x, float low) { return x < low ? splat(low) : x; }
inline V at_most(V x, float high) { return x > high ? splat(high) : x; }
#endif
inline V clamp(V x, float low, float high) { return at_most(at_least(x, low), high); }
} // namespace detail

inline V exp(V x) {
  // Beyond these bounds the result is 0 or infinity; scale() still produces it.
  x = detail::clamp(x, -104.0f, 89.0f);
  detail::Rounded n = detail::nearest(x * 1.44269504f);
  V r = detail::madd(n.f, -0.693359375f, x); // exact: 9 bits times 8 bits
  r = detail::madd(n.f, 2.12194440e-4f, r);
  V p = detail::madd(detail::exp_tail(r), r * r, r) + 1.0f;
  return detail::scale(p, n);
}

inline V expm1(V x) {
  // 2^n (e^r - 1) + (2^n - 1): no cancellation near zero, where n is 0.
  V c = detail::clamp(x, -104.0f, 1.0f);
  detail::Rounded n = detail::nearest(c * 1.44269504f);
  V r = detail::madd(n.f, -0.693359375f, c);
  r = detail::madd(n.f, 2.12194440e-4f, r);
  V p = detail::madd(detail::exp_tail(r), r * r, r);
  V near = detail::scale(p, n) + (detail::scale(splat(1.0f), n) - 1.0f);
  V y = x > 1.0f ? exp(x) - 1.0f : near;
  return (x == 0.0f) | (x != x) ? x : y;
}

inline V exp2(V x) {
  x = detail::clamp(x, -151.0f, 129.0f);
  detail::Rounded n = detail::nearest(x);
  V r = (x - n.f) * 0.693147182f;
  V p = detail::madd(detail::exp_tail(r), r * r, r) + 1.0f;
  return detail::scale(p, n);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

inline V log(V x) {
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)); denormals are scaled up first.
  VM tiny = x < 1.17549435e-38f;
  VU u = bit_cast<VU>(tiny ? x * 8388608.0f : x);
  VI shifted = bit_cast<VI>(u - 0x3f3504f3u);
  V e = to_float((shifted >> 23) - (tiny & 23));
  V f = bit_cast<V>((shifted & 0x7fffff) + 0x3f3504f3) - 1.0f;

  V p = detail::polynomial(f, 7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f,
                           1.4249322787e-1f, -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f);

  V ff = f * f;
  V y = detail::madd(e, -2.12194440e-4f, p * ff * f);
  y = detail::madd(ff, -0.5f, y);
  y = detail::madd(e, 0.693359375f, f + y);

  const float infinity = std::numeric_limits<float>::infinity();
  y = x == infinity ? x : y;
  y = x == 0.0f ? splat(-infinity) : y;
  return ((x < 0.0f) | (x != x)) ? splat(std::numeric_limits<float>::quiet_NaN()) : y;
}

inline V log1p(V x) {
  // log(1 + x) = log(u) + (rounding error of u = 1 + x) / u.
  V u = 1.0f + x;
  V lost = x - (u - 1.0f);
  VM correct = (u > 0.0f) & (u < std::numeric_limits<float>::infinity());
  V y = log(u) + (correct ? lost / u : V{});
  return x == 0.0f ? x : y;
}

//===----------------------------------------------------------------------===//
// Sigmoids
//===----------------------------------------------------------------------===//

inline V tanh(V x) {
  V z = x * x;
  V p = detail::polynomial(z, -5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f, 1.33314422036e-1f,
                           -3.33332819422e-1f);
  V near = detail::madd(p * z, x, x);

  V a = abs(x);
  V far = 1.0f - 2.0f / (exp(a + a) + 1.0f);
  return copysign(a < 0.625f ? near : far, x);
}

inline V erf(V x) {
  V t = abs(x), s = x * x;
  // An odd polynomial near zero, 1 - exp(polynomial) elsewhere.
  V p = detail::polynomial(s, -5.96761703e-4f, 4.99119423e-3f, -2.67681349e-2f, 1.12819925e-1f, -3.76125336e-1f,
                           1.28379166e-1f);
  V near = detail::madd(p, x, x);

  V c = detail::clamp(t, 0.0f, 4.0f); // erf(4) rounds to 1
  V cc = c * c;
  V r = detail::madd(splat(-1.72853470e-5f), c, 3.83197126e-4f);
  V u = detail::madd(splat(-3.88396438e-3f), c, 2.42546219e-2f);
  r = detail::madd(r, cc, u);
  r = detail::madd(r, c, -1.06777877e-1f);
  r = detail::madd(r, c, -6.34846687e-1f);
  r = detail::madd(r, c, -1.28717512e-1f);
  r = detail::madd(r, c, -c);
  V far = 1.0f - exp(r);
  return copysign(t > 0.927734375f ? far : near, x);
}

//===----------------------------------------------------------------------===//
// Functions for results in bf16
//===----------------------------------------------------------------------===//

namespace detail {
// 2^x as 2^n (1 + rest), for x between -160 and 160.
struct PowerParts {
  V rest, n;
};
inline PowerParts power_parts(V x) {
#if BRAID_ISA_AVX512
  const V n = x86::round<x86::Nearest>(x);
#else
  const V n = nearest(x).f;
#endif
  const V r = x - n;
  // (2^r - 1) / r with an error of at most 1.5e-5: a minimax polynomial.
  V p = polynomial(r, 9.618069045e-3f, 5.583729595e-2f, 2.402325273e-1f, 6.931368709e-1f);
  return {p * r, n};
}
// Returns x 2^n.
inline V times_power(V x, V n) { return scale(x, {__builtin_convertvector(n, VI), n}); }
} // namespace detail

// Relative errors of up to 2e-5; rounding to bf16 raises them to 2e-3.
inline V exp_approx(V x) {
  const detail::PowerParts parts = detail::power_parts(detail::clamp(x * 1.44269504f, -160.0f, 160.0f));
  return detail::times_power(parts.rest + 1.0f, parts.n);
}
inline V tanh_approx(V x) {
  // (e^2x - 1) / (e^2x + 1), without cancellation near zero, where n is 0. Beyond 20 the result is 1.
  const detail::PowerParts parts = detail::power_parts(detail::clamp(x * 2.88539008f, -60.0f, 60.0f));
  const V power = detail::times_power(splat(1.0f), parts.n);
  const V less = detail::madd(power, parts.rest, power - 1.0f);
  return less / (less + 2.0f);
}

//===----------------------------------------------------------------------===//
// Sine and cosine
//===----------------------------------------------------------------------===//

namespace detail {
// Returns sin(x + quadrant * pi / 2). pi/2 is split into three floats: with fused steps the reduction is
// exact enough for |x| < 1e5; larger arguments use libm.
inline V sine(V x, int32_t quadrant) {
  Rounded n = nearest(x * 0.636619747f);
  V r = fma(n.f, splat(-1.57079637e+00f), x);
  r = fma(n.f, splat(4.37113883e-08f), r);
  r = fma(n.f, splat(1.71512489e-15f), r);
  V z = r * r;

  V s = polynomial(z, -1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f);
  s = madd(s * z, r, r);
  V c = polynomial(z, 2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f);
  c = madd(c * z, z, madd(z, splat(-0.5f), 1.0f));

  VI q = n.i + quadrant;
  V y = (q & 1) != 0 ? c : s;
  return bit_cast<V>(bit_cast<VI>(y) ^ ((q & 2) << 30));
}
} // namespace detail

inline V sin(V x) {
  V y = detail::sine(x, 0);
  if (row_any(abs(x) > 1e5f))
    y = abs(x) > 1e5f ? detail::each(x, [](float e) { return __builtin_sinf(e); }) : y;
  return x == 0.0f ? x : y;
}
inline V cos(V x) {
  V y = detail::sine(x, 1);
  if (row_any(abs(x) > 1e5f))
    y = abs(x) > 1e5f ? detail::each(x, [](float e) { return __builtin_cosf(e); }) : y;
  return y;
}

inline V pow(V x, V y) {
  for (int k = 0; k < W; ++k)
    x[k] = __builtin_powf(x[k], y[k]);
  return x;
}

//===----------------------------------------------------------------------===//
// Row values
//===----------------------------------------------------------------------===//

inline float sqrt(float x) { return __builtin_sqrtf(x); }
inline float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
inline float floor(float x) { return __builtin_floorf(x); }
inline float ceil(float x) { return __builtin_ceilf(x); }
inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float abs(float x) { return __builtin_fabsf(x); }
inline int32_t abs(int32_t x) { return x < 0 ? -x : x; }
inline int64_t abs(int64_t x) { return x < 0 ? -x : x; }
inline float neg(float x) { return -x; }
inline float copysign(float x, float s) { return __builtin_copysignf(x, s); }
inline float exp(float x) { return exp(splat(x))[0]; }
inline float exp_approx(float x) { return exp_approx(splat(x))[0]; }
inline float tanh_approx(float x) { return tanh_approx(splat(x))[0]; }
inline float exp2(float x) { return exp2(splat(x))[0]; }
inline float expm1(float x) { return expm1(splat(x))[0]; }
inline float log(float x) { return log(splat(x))[0]; }
inline float log1p(float x) { return log1p(splat(x))[0]; }
inline float tanh(float x) { return tanh(splat(x))[0]; }
inline float erf(float x) { return erf(splat(x))[0]; }
inline float sin(float x) { return sin(splat(x))[0]; }
inline float cos(float x) { return cos(splat(x))[0]; }
inline float pow(float x, float y) { return __builtin_powf(x, y); }

} // namespace braid
#endif // BRAID_CPU_LANEMATH_H
