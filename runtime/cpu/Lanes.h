//===- Lanes.h - W-wide values, loads and stores --------------------------===//
//
// Types and functions of generated kernels. bf16, i8 and i1 exist only in memory: in registers they are
// floats, ints and masks.
//
// A partial load or store accesses only the first `n` lanes, 0 <= n <= W; the other lanes of a partial load
// are zero.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_LANES_H
#define BRAID_CPU_LANES_H

#include "Instructions.h"
#include "LaneTypes.h"

namespace braid {

//===----------------------------------------------------------------------===//
// Making values
//===----------------------------------------------------------------------===//

inline V splat(float x) { return x - V{}; } // keeps -0.0
inline VI splat(int32_t x) { return x + VI{}; }
inline VM splat(bool x) { return (x ? -1 : 0) + VM{}; }

// Returns {first, first + 1, ...}.
inline VI lane_index(int64_t first) {
#if BRAID_LANES == 16
  const VI iota = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif BRAID_LANES == 8
  const VI iota = {0, 1, 2, 3, 4, 5, 6, 7};
#else
  const VI iota = {0, 1, 2, 3};
#endif
  return iota + static_cast<int32_t>(first);
}

// Returns a mask of lanes [0, n).
inline VM first_lanes(int64_t n) { return lane_index(0) < static_cast<int32_t>(n); }

inline V select(VM m, V a, V b) { return m ? a : b; }
inline VI select(VM m, VI a, VI b) { return m ? a : b; }
template <class T> inline T select(bool m, T a, T b) { return m ? a : b; }

inline VM not_(VM m) { return ~m; }
inline bool not_(bool m) { return !m; }

// Returns `v` in the first n lanes and `identity` in the others.
inline V keep(V v, int64_t n, float identity) { return select(first_lanes(n), v, splat(identity)); }
inline VI keep(VI v, int64_t n, int32_t identity) { return select(first_lanes(n), v, splat(identity)); }

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

inline V to_float(V x) { return x; }
inline V to_float(VI x) { return __builtin_convertvector(x, V); }
inline float to_float(float x) { return x; }
inline float to_float(int32_t x) { return static_cast<float>(x); }
inline float to_float(int64_t x) { return static_cast<float>(x); }

// Rounds towards zero. Numbers out of range become the nearest int, and NaN becomes 0, as in conversions of GPUs.
inline VI to_int(V x) {
  const V limit = splat(0x1p31f);
  const VM is_large = x >= limit;
  const V below = is_large ? V{} : x;
  const V inside = below > -limit ? below : -limit; // also for NaN
  return (is_large ? splat(INT32_MAX) : __builtin_convertvector(inside, VI)) & (x == x);
}
template <class Int> inline Int saturate(float x) {
  constexpr Int min = -1 - static_cast<Int>(static_cast<uint64_t>(-1) >> (65 - 8 * sizeof(Int))), max = -1 - min;
  if (x != x)
    return 0;
  return x >= -static_cast<float>(min) ? max : x > static_cast<float>(min) ? static_cast<Int>(x) : min;
}
inline int32_t to_int(float x) { return saturate<int32_t>(x); }
inline int64_t to_int64(float x) { return saturate<int64_t>(x); }

// The same for i8, whose values are ints in registers.
inline VI to_int8(V x) {
  const VI i = to_int(x), min = splat(INT8_MIN), max = splat(INT8_MAX);
  return i < min ? min : i > max ? max : i;
}
inline int32_t to_int8(float x) { return saturate<int8_t>(x); }

// Returns the value of `x` after a store to i8 and a load.
inline VI wrap_int8(VI x) { return (x << 24) >> 24; }
inline int32_t wrap_int8(int32_t x) { return static_cast<int8_t>(x); }

inline V mask_to_float(VM m) { return bit_cast<V>(m & bit_cast<VI>(splat(1.0f))); }
inline VI mask_to_int(VM m) { return m & 1; }
inline float mask_to_float(bool m) { return m ? 1.0f : 0.0f; }
inline int32_t mask_to_int(bool m) { return m ? 1 : 0; }

inline V widen(VH bits) { // bf16 to f32
  return bit_cast<V>(__builtin_convertvector(bits, VU) << 16);
}
// Converts f32 to bf16: ties to even, NaN stays NaN. The instruction treats values below 2^-126 as zero.
inline VH narrow(V x) {
#if BRAID_ISA_BF16
  return x86::narrow(x);
#else
  VU u = bit_cast<VU>(x);
  VU rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  VU quiet = (u >> 16) | 0x40u;
  VM is_nan = x != x;
  return __builtin_convertvector(is_nan ? quiet : rounded, VH);
#endif
}
inline float to_float(bf16 x) { return bit_cast<float>(static_cast<uint32_t>(x.bits) << 16); }
inline bf16 to_bf16(float x) { return bf16{narrow(splat(x))[0]}; }
// Returns the value of `x` after a store to bf16 and a load.
inline V round_bf16(V x) { return widen(narrow(x)); }
inline float round_bf16(float x) { return to_float(to_bf16(x)); }

//===----------------------------------------------------------------------===//
// Whole loads and stores
//===----------------------------------------------------------------------===//

template <class X> inline X ld_bytes(const void *p) {
  X v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class X> inline void st_bytes(void *p, X v) { std::memcpy(p, &v, sizeof v); }

inline V ld(const float *p) { return ld_bytes<V>(p); }
inline void st(float *p, V v) { st_bytes(p, v); }
inline VI ld(const int32_t *p) { return ld_bytes<VI>(p); }
inline void st(int32_t *p, VI v) { st_bytes(p, v); }
inline V ld(const bf16 *p) { return widen(ld_bytes<VH>(p)); }
inline void st(bf16 *p, V v) { st_bytes(p, narrow(v)); }
inline VI ld(const int8_t *p) { return __builtin_convertvector(ld_bytes<VB>(p), VI); }
inline void st(int8_t *p, VI v) { st_bytes(p, __builtin_convertvector(v, VB)); }
inline VM ld(const bool *p) { return ld(reinterpret_cast<const int8_t *>(p)) != 0; }
inline void st(bool *p, VM m) { st(reinterpret_cast<int8_t *>(p), m & 1); }

// Streamed stores bypass the caches if the address is aligned; for data that is not read soon. They become
// visible in any order, at the latest when end_streams() returns.
#if BRAID_ISA_AVX512 || BRAID_ISA_AVX2
inline void st_streamed(float *p, V v) {
  if (reinterpret_cast<uintptr_t>(p) % sizeof v != 0)
    return st(p, v);
  x86::stream(p, v);
}
inline void st_streamed(bf16 *p, V v) {
  const VH h = narrow(v);
  if (reinterpret_cast<uintptr_t>(p) % sizeof h != 0)
    st_bytes(p, h);
  else
    x86::stream(p, h);
}
inline void end_streams() { x86::store_fence(); }
#else
inline void end_streams() {}
template <class T, class X> inline void st_streamed(T *p, X v) { st(p, v); }
#endif
inline void st_streamed(int32_t *p, VI v) { st(p, v); }
inline void st_streamed(bool *p, VM m) { st(p, m); }

//===----------------------------------------------------------------------===//
// One element: row values and single stores
//===----------------------------------------------------------------------===//

inline float ld1(const float *p) { return *p; }
inline float ld1(const bf16 *p) { return to_float(*p); }
inline int32_t ld1(const int32_t *p) { return *p; }
inline int64_t ld1(const int64_t *p) { return *p; }
inline int32_t ld1(const int8_t *p) { return *p; }
inline bool ld1(const bool *p) { return *p; }
inline bool ld1(const uint8_t *p) { return *p != 0; }
// Returns lane `lane` of a row of `lanes` lanes; 0 if there is no such lane.
template <class T> inline float ld_lane(const T *row, int32_t lane, int64_t lanes, int64_t stride = 1) {
  return lane >= 0 && lane < lanes ? ld1(row + lane * stride) : 0.0f;
}
inline void st1(float *p, float x) { *p = x; }
inline void st1(bf16 *p, float x) { *p = to_bf16(x); }
inline void st1(int32_t *p, int32_t x) { *p = x; }
inline void st1(int64_t *p, int64_t x) { *p = x; }
inline void st1(int8_t *p, int32_t x) { *p = static_cast<int8_t>(x); }
inline void st1(bool *p, bool x) { *p = x; }
inline void st1(uint8_t *p, bool x) { *p = x; }

inline void fill(float *begin, float *end, float x) {
  for (; begin < end; ++begin)
    *begin = x;
}

//===----------------------------------------------------------------------===//
// Strided loads and stores: lane k is at p[k * stride]
//===----------------------------------------------------------------------===//

template <class X, class T> inline X ld_each(const T *p, int64_t stride, int64_t n) {
  X v{};
  for (int64_t k = 0; k < n; ++k)
    v[k] = ld1(p + k * stride);
  return v;
}
template <class X, class T> inline void st_each(T *p, int64_t stride, X v, int64_t n) {
  for (int64_t k = 0; k < n; ++k)
    st1(p + k * stride, v[k]);
}
inline V ld_strided(const float *p, int64_t stride, int64_t n = W) { return ld_each<V>(p, stride, n); }
inline V ld_strided(const bf16 *p, int64_t stride, int64_t n = W) { return ld_each<V>(p, stride, n); }
inline VI ld_strided(const int32_t *p, int64_t stride, int64_t n = W) { return ld_each<VI>(p, stride, n); }
inline VI ld_strided(const int8_t *p, int64_t stride, int64_t n = W) { return ld_each<VI>(p, stride, n); }
inline VM ld_strided(const bool *p, int64_t stride, int64_t n = W) {
  return ld_strided(reinterpret_cast<const int8_t *>(p), stride, n) != 0;
}
inline void st_strided(float *p, int64_t stride, V v, int64_t n = W) { st_each(p, stride, v, n); }
inline void st_strided(bf16 *p, int64_t stride, V v, int64_t n = W) {
  VH h = narrow(v);
  for (int64_t k = 0; k < n; ++k)
    p[k * stride].bits = h[k];
}
inline void st_strided(int32_t *p, int64_t stride, VI v, int64_t n = W) { st_each(p, stride, v, n); }
inline void st_strided(int8_t *p, int64_t stride, VI v, int64_t n = W) { st_each(p, stride, v, n); }
inline void st_strided(bool *p, int64_t stride, VM m, int64_t n = W) {
  st_strided(reinterpret_cast<int8_t *>(p), stride, m & 1, n);
}

//===----------------------------------------------------------------------===//
// Partial loads and stores
//===----------------------------------------------------------------------===//

#if BRAID_ISA_AVX512
inline uint16_t mask_bits(int64_t n) { return static_cast<uint16_t>((1u << n) - 1); }
inline V ld(const float *p, int64_t n) { return x86::load(mask_bits(n), p); }
inline void st(float *p, V v, int64_t n) { x86::store(p, mask_bits(n), v); }
inline VI ld(const int32_t *p, int64_t n) { return x86::load(mask_bits(n), p); }
inline void st(int32_t *p, VI v, int64_t n) { x86::store(p, mask_bits(n), v); }
inline V ld(const bf16 *p, int64_t n) { return widen(x86::load(mask_bits(n), &p->bits)); }
inline void st(bf16 *p, V v, int64_t n) { x86::store(&p->bits, mask_bits(n), narrow(v)); }
inline VI ld(const int8_t *p, int64_t n) { return __builtin_convertvector(x86::load(mask_bits(n), p), VI); }
inline void st(int8_t *p, VI v, int64_t n) { x86::store(p, mask_bits(n), __builtin_convertvector(v, VB)); }
#else
#if BRAID_ISA_AVX2
inline V ld(const float *p, int64_t n) { return x86::load(first_lanes(n), p); }
inline void st(float *p, V v, int64_t n) { x86::store(p, first_lanes(n), v); }
#else
inline V ld(const float *p, int64_t n) { return ld_strided(p, 1, n); }
inline void st(float *p, V v, int64_t n) { st_strided(p, 1, v, n); }
#endif
inline VI ld(const int32_t *p, int64_t n) { return ld_strided(p, 1, n); }
inline void st(int32_t *p, VI v, int64_t n) { st_strided(p, 1, v, n); }
inline V ld(const bf16 *p, int64_t n) { return ld_strided(p, 1, n); }
inline void st(bf16 *p, V v, int64_t n) { st_strided(p, 1, v, n); }
inline VI ld(const int8_t *p, int64_t n) { return ld_strided(p, 1, n); }
inline void st(int8_t *p, VI v, int64_t n) { st_strided(p, 1, v, n); }
#endif
inline VM ld(const bool *p, int64_t n) { return ld(reinterpret_cast<const int8_t *>(p), n) != 0; }
inline void st(bool *p, VM m, int64_t n) { st(reinterpret_cast<int8_t *>(p), m & 1, n); }

template <class T, class X> inline void st_streamed(T *p, X v, int64_t n) { st(p, v, n); }

// i1 in memory is one byte, whether generated code calls it bool or uint8_t.
inline VM ld(const uint8_t *p) { return ld(reinterpret_cast<const bool *>(p)); }
inline VM ld(const uint8_t *p, int64_t n) { return ld(reinterpret_cast<const bool *>(p), n); }
inline void st(uint8_t *p, VM m) { st(reinterpret_cast<bool *>(p), m); }
inline void st(uint8_t *p, VM m, int64_t n) { st(reinterpret_cast<bool *>(p), m, n); }

} // namespace braid
#endif // BRAID_CPU_LANES_H
