//===- Instructions.h - x86 instructions for lanes ------------------------===//
//
// Instructions that vector extensions cannot express, on the types of LaneTypes.h.
//
// <immintrin.h> has 50,000 lines: parsing it would take most of the time to parse a generated program. So
// this header uses the builtins behind it, for the version of GCC that they were compared with
// (-DBRAID_IMMINTRIN=1 uses <immintrin.h>). Other compilers name their builtins differently, so they use
// <immintrin.h>.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_INSTRUCTIONS_H
#define BRAID_CPU_INSTRUCTIONS_H

#include "LaneTypes.h"

#if defined(__AVX512BF16__) && (BRAID_ISA_AVX512 || (BRAID_ISA_AVX2 && defined(__AVX512VL__)))
#define BRAID_ISA_BF16 1
#endif

#if BRAID_ISA_AVX512 || BRAID_ISA_AVX2
#if !defined(BRAID_IMMINTRIN) && (defined(__clang__) || __GNUC__ != 12)
#define BRAID_IMMINTRIN 1
#endif
#if BRAID_IMMINTRIN
#include <immintrin.h>
#endif

namespace braid {
typedef uint64_t VL __attribute__((vector_size(W * 4)));

namespace x86 {
// Rounding modes without exceptions: the immediate operand of vrndscale and vround.
enum Rounding { Nearest = 8, Down = 9, Up = 10 };

#if BRAID_ISA_AVX512
// Masked forms: GCC 12 warns about undefined values in the plain forms.
constexpr uint16_t all = 0xffff;
#if BRAID_IMMINTRIN
inline V sqrt(V x) { return bit_cast<V>(_mm512_maskz_sqrt_ps(all, bit_cast<__m512>(x))); }
template <Rounding mode> inline V round(V x) {
  return bit_cast<V>(_mm512_maskz_roundscale_ps(all, bit_cast<__m512>(x), mode));
}
inline V fma(V a, V b, V c) {
  return bit_cast<V>(_mm512_fmadd_ps(bit_cast<__m512>(a), bit_cast<__m512>(b), bit_cast<__m512>(c)));
}
// Returns x 2^n for an integer n.
inline V scale(V x, V n) { return bit_cast<V>(_mm512_maskz_scalef_ps(all, bit_cast<__m512>(x), bit_cast<__m512>(n))); }
// `max` and `min` return the second operand if the operands are unordered.
inline V max(V a, V b) { return bit_cast<V>(_mm512_maskz_max_ps(all, bit_cast<__m512>(a), bit_cast<__m512>(b))); }
inline V min(V a, V b) { return bit_cast<V>(_mm512_maskz_min_ps(all, bit_cast<__m512>(a), bit_cast<__m512>(b))); }
// Returns the products of elements 0, 2, 4, ...
inline VL multiply_even(VU a, VU b) {
  return bit_cast<VL>(_mm512_maskz_mul_epu32(0xff, bit_cast<__m512i>(a), bit_cast<__m512i>(b)));
}
// Loads the lanes of the mask; the other lanes are zero.
inline V load(uint16_t mask, const float *p) { return bit_cast<V>(_mm512_maskz_loadu_ps(mask, p)); }
inline VI load(uint16_t mask, const int32_t *p) { return bit_cast<VI>(_mm512_maskz_loadu_epi32(mask, p)); }
inline VH load(uint16_t mask, const uint16_t *p) { return bit_cast<VH>(_mm256_maskz_loadu_epi16(mask, p)); }
inline VB load(uint16_t mask, const int8_t *p) { return bit_cast<VB>(_mm_maskz_loadu_epi8(mask, p)); }
inline void store(float *p, uint16_t mask, V x) { _mm512_mask_storeu_ps(p, mask, bit_cast<__m512>(x)); }
inline void store(int32_t *p, uint16_t mask, VI x) { _mm512_mask_storeu_epi32(p, mask, bit_cast<__m512i>(x)); }
inline void store(uint16_t *p, uint16_t mask, VH x) { _mm256_mask_storeu_epi16(p, mask, bit_cast<__m256i>(x)); }
inline void store(int8_t *p, uint16_t mask, VB x) { _mm_mask_storeu_epi8(p, mask, bit_cast<__m128i>(x)); }
inline void stream(float *p, V x) { _mm512_stream_ps(p, bit_cast<__m512>(x)); }
template <class T> inline void stream(T *p, VH x) {
  _mm256_stream_si256(reinterpret_cast<__m256i *>(p), bit_cast<__m256i>(x));
}
#if BRAID_ISA_BF16
inline VH narrow(V x) { return bit_cast<VH>(_mm512_cvtneps_pbh(bit_cast<__m512>(x))); }
// Adds the products of pairs of bf16 to `sum`.
inline V add_pairs(V sum, VU a, V b) {
  return bit_cast<V>(_mm512_dpbf16_ps(bit_cast<__m512>(sum), bit_cast<__m512bh>(a), bit_cast<__m512bh>(b)));
}
#endif
#else
constexpr int asSet = 4; // rounding mode of the control register
inline V sqrt(V x) { return __builtin_ia32_sqrtps512_mask(x, V{}, all, asSet); }
template <Rounding mode> inline V round(V x) { return __builtin_ia32_rndscaleps_mask(x, mode, V{}, all, asSet); }
inline V fma(V a, V b, V c) { return __builtin_ia32_vfmaddps512_mask(a, b, c, all, asSet); }
inline V scale(V x, V n) { return __builtin_ia32_scalefps512_mask(x, n, V{}, all, asSet); }
inline V max(V a, V b) { return __builtin_ia32_maxps512_mask(a, b, V{}, all, asSet); }
inline V min(V a, V b) { return __builtin_ia32_minps512_mask(a, b, V{}, all, asSet); }
typedef long long Words __attribute__((vector_size(64)));
typedef short Halves __attribute__((vector_size(32)));
typedef char Bytes __attribute__((vector_size(16)));
inline VL multiply_even(VU a, VU b) {
  return bit_cast<VL>(__builtin_ia32_pmuludq512_mask(bit_cast<VI>(a), bit_cast<VI>(b), Words{}, 0xff));
}
inline V load(uint16_t mask, const float *p) { return __builtin_ia32_loadups512_mask(p, V{}, mask); }
inline VI load(uint16_t mask, const int32_t *p) { return __builtin_ia32_loaddqusi512_mask(p, VI{}, mask); }
inline VH load(uint16_t mask, const uint16_t *p) {
  return bit_cast<VH>(__builtin_ia32_loaddquhi256_mask(reinterpret_cast<const short *>(p), Halves{}, mask));
}
inline VB load(uint16_t mask, const int8_t *p) {
  return bit_cast<VB>(__builtin_ia32_loaddquqi128_mask(reinterpret_cast<const char *>(p), Bytes{}, mask));
}
inline void store(float *p, uint16_t mask, V x) { __builtin_ia32_storeups512_mask(p, x, mask); }
inline void store(int32_t *p, uint16_t mask, VI x) { __builtin_ia32_storedqusi512_mask(p, x, mask); }
inline void store(uint16_t *p, uint16_t mask, VH x) {
  __builtin_ia32_storedquhi256_mask(reinterpret_cast<short *>(p), bit_cast<Halves>(x), mask);
}
inline void store(int8_t *p, uint16_t mask, VB x) {
  __builtin_ia32_storedquqi128_mask(reinterpret_cast<char *>(p), bit_cast<Bytes>(x), mask);
}
inline void stream(float *p, V x) { __builtin_ia32_movntps512(p, x); }
template <class T> inline void stream(T *p, VH x) {
  typedef long long Quarter __attribute__((vector_size(32)));
  __builtin_ia32_movntdq256(reinterpret_cast<Quarter *>(p), bit_cast<Quarter>(x));
}
#if BRAID_ISA_BF16
inline VH narrow(V x) { return bit_cast<VH>(__builtin_ia32_cvtneps2bf16_v16sf(x)); }
inline V add_pairs(V sum, VU a, V b) {
  typedef short Pairs __attribute__((vector_size(64)));
  return __builtin_ia32_dpbf16ps_v16sf(sum, bit_cast<Pairs>(a), bit_cast<Pairs>(b));
}
#endif
#endif

#else // AVX2
#if BRAID_IMMINTRIN
inline V sqrt(V x) { return bit_cast<V>(_mm256_sqrt_ps(bit_cast<__m256>(x))); }
template <Rounding mode> inline V round(V x) { return bit_cast<V>(_mm256_round_ps(bit_cast<__m256>(x), mode)); }
#ifdef __FMA__
inline V fma(V a, V b, V c) {
  return bit_cast<V>(_mm256_fmadd_ps(bit_cast<__m256>(a), bit_cast<__m256>(b), bit_cast<__m256>(c)));
}
#endif
inline VL multiply_even(VU a, VU b) {
  return bit_cast<VL>(_mm256_mul_epu32(bit_cast<__m256i>(a), bit_cast<__m256i>(b)));
}
inline V load(VM mask, const float *p) { return bit_cast<V>(_mm256_maskload_ps(p, bit_cast<__m256i>(mask))); }
inline void store(float *p, VM mask, V x) { _mm256_maskstore_ps(p, bit_cast<__m256i>(mask), bit_cast<__m256>(x)); }
inline void stream(float *p, V x) { _mm256_stream_ps(p, bit_cast<__m256>(x)); }
template <class T> inline void stream(T *p, VH x) {
  _mm_stream_si128(reinterpret_cast<__m128i *>(p), bit_cast<__m128i>(x));
}
#if BRAID_ISA_BF16
inline VH narrow(V x) { return bit_cast<VH>(_mm256_cvtneps_pbh(bit_cast<__m256>(x))); }
#endif
#else
inline V sqrt(V x) { return __builtin_ia32_sqrtps256(x); }
template <Rounding mode> inline V round(V x) { return __builtin_ia32_roundps256(x, mode); }
#ifdef __FMA__
inline V fma(V a, V b, V c) { return __builtin_ia32_vfmaddps256(a, b, c); }
#endif
inline VL multiply_even(VU a, VU b) {
  return bit_cast<VL>(__builtin_ia32_pmuludq256(bit_cast<VI>(a), bit_cast<VI>(b)));
}
inline V load(VM mask, const float *p) { return __builtin_ia32_maskloadps256(reinterpret_cast<const V *>(p), mask); }
inline void store(float *p, VM mask, V x) { __builtin_ia32_maskstoreps256(reinterpret_cast<V *>(p), mask, x); }
inline void stream(float *p, V x) { __builtin_ia32_movntps256(p, x); }
template <class T> inline void stream(T *p, VH x) {
  typedef long long Half __attribute__((vector_size(16)));
  __builtin_ia32_movntdq(reinterpret_cast<Half *>(p), bit_cast<Half>(x));
}
#if BRAID_ISA_BF16
inline VH narrow(V x) { return bit_cast<VH>(__builtin_ia32_cvtneps2bf16_v8sf(x)); }
#endif
#endif
#endif

// Makes streamed stores visible before later stores.
inline void store_fence() { __builtin_ia32_sfence(); }
} // namespace x86
} // namespace braid
#endif
#endif // BRAID_CPU_INSTRUCTIONS_H
