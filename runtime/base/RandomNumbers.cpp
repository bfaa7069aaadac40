//===- RandomNumbers.cpp - many random numbers at once --------------------===//
//
// Compiled without contraction: fusing a product and a sum in only some kernels would change the
// numbers.
//
//===----------------------------------------------------------------------===//

#include "base/RandomNumbers.h"

#include "base/Philox.h"

#include <cmath>
#include <cstring>
#include <numbers>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace braid;

// Rounds a long double logarithm and cosine, to be as close to the exact values as possible: double
// functions may differ in the last bits between processors.
double braid::normalAt(const RandomStream &stream, uint64_t index) {
  PhiloxWords w = philoxAt(index, 0, stream.stream, stream.seed);
  const double u = (w[0] + 1.0) * 0x1p-32, v = w[1] * 0x1p-32;
  const double log = static_cast<double>(std::log(static_cast<long double>(u)));
  const double cos = static_cast<double>(std::cos(static_cast<long double>(2 * std::numbers::pi * v)));
  return stream.a + stream.b * std::sqrt(-2 * log) * cos;
}

double braid::uniformAt(const RandomStream &stream, uint64_t index) {
  PhiloxWords w = philoxAt(index, 0, stream.stream, stream.seed);
  return stream.a + (stream.b - stream.a) * ((w[0] >> 8) * 0x1p-24);
}

// Replaces numbers whose two bounds are different floats by the definition's number.
[[gnu::noinline]] static void settle(const RandomStream &stream, const uint64_t *index, int lanes, const float *high,
                                     float *out) {
  for (int i = 0; i < lanes; ++i)
    if (!(out[i] == high[i]))
      out[i] = static_cast<float>(normalAt(stream, index[i]));
}

//===----------------------------------------------------------------------===//
// One lane at a time
//===----------------------------------------------------------------------===//

namespace plain {
#define LANE_FUNCTION [[gnu::always_inline]] static inline
#define DRAW_FUNCTION static

using Doubles = double;
using Words = uint64_t;
using Floats = float;

LANE_FUNCTION Words multiplyLow(Words a, Words b) { return static_cast<uint32_t>(a) * b; }
LANE_FUNCTION Doubles root(Doubles x) { return __builtin_sqrt(x); }
LANE_FUNCTION Floats toFloats(Doubles x) { return static_cast<float>(x); }
LANE_FUNCTION bool anyDiffers(Floats a, Floats b) { return !(a == b); }

#include "base/RandomLanes.h"
#undef LANE_FUNCTION
#undef DRAW_FUNCTION
} // namespace plain

//===----------------------------------------------------------------------===//
// With vector instructions
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)

namespace avx2 {
#define LANE_FUNCTION [[gnu::always_inline, gnu::target("avx2")]] static inline
#define DRAW_FUNCTION [[gnu::target("avx2")]] static

typedef double Doubles __attribute__((vector_size(32)));
typedef uint64_t Words __attribute__((vector_size(32)));
typedef float Floats __attribute__((vector_size(16)));

LANE_FUNCTION Words multiplyLow(Words a, Words b) { return (Words)_mm256_mul_epu32((__m256i)a, (__m256i)b); }
LANE_FUNCTION Doubles root(Doubles x) { return (Doubles)_mm256_sqrt_pd((__m256d)x); }
LANE_FUNCTION Floats toFloats(Doubles x) { return __builtin_convertvector(x, Floats); }
LANE_FUNCTION bool anyDiffers(Floats a, Floats b) {
  return _mm_movemask_ps(_mm_cmp_ps((__m128)a, (__m128)b, _CMP_NEQ_UQ)) != 0;
}

#include "base/RandomLanes.h"
#undef LANE_FUNCTION
#undef DRAW_FUNCTION
} // namespace avx2

namespace avx512 {
#define LANE_FUNCTION [[gnu::always_inline, gnu::target("avx512f")]] static inline
#define DRAW_FUNCTION [[gnu::target("avx512f")]] static

typedef double Doubles __attribute__((vector_size(64)));
typedef uint64_t Words __attribute__((vector_size(64)));
typedef float Floats __attribute__((vector_size(32)));

// Masked forms, because GCC 12 warns that the plain ones leave lanes undefined.
LANE_FUNCTION Words multiplyLow(Words a, Words b) {
  return (Words)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b);
}
LANE_FUNCTION Doubles root(Doubles x) { return (Doubles)_mm512_maskz_sqrt_pd(0xff, (__m512d)x); }
LANE_FUNCTION Floats toFloats(Doubles x) { return __builtin_convertvector(x, Floats); }
LANE_FUNCTION bool anyDiffers(Floats a, Floats b) {
  return _mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_NEQ_UQ)) != 0;
}

#include "base/RandomLanes.h"
#undef LANE_FUNCTION
#undef DRAW_FUNCTION
} // namespace avx512

#endif // __x86_64__

const std::vector<RandomKernel> &braid::randomKernels() {
  static const std::vector<RandomKernel> kernels = [] {
    std::vector<RandomKernel> found;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
      found.push_back({"avx512f", avx512::drawNormals, avx512::drawUniforms});
    if (__builtin_cpu_supports("avx2"))
      found.push_back({"avx2", avx2::drawNormals, avx2::drawUniforms});
#endif
    found.push_back({"plain", plain::drawNormals, plain::drawUniforms});
    return found;
  }();
  return kernels;
}
