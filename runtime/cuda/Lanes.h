//===- Lanes.h - vectors of lanes in a thread, loads and stores -----------===//
//
// A thread works on W adjacent lanes at once.  In generated code, V is Vec<float, W>, VI is
// Vec<int32_t, W> and VM is Vec<bool, W>.  bf16, i8 and i1 exist only in memory, as on the CPU; in
// registers they are floats, ints and bools.
//
// `ld<W>(p)` and `st(p, v)` access up to 16 bytes at a time, aligned to W elements or to 16 bytes.
// A partial access touches only the first `n` lanes; a partial load sets the other lanes to zero.
// The strided forms go element by element, also with stride 1, and need only an element's
// alignment.
//
// `each_vector` is a loop over any number of lanes; W need not divide it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_LANES_H
#define BRAID_CUDA_LANES_H

#include "cuda/Pack.h"
#include <cuda/Access.h>

#include <cuda_bf16.h>

#include <cstdint>

namespace braid {

using bf16 = __nv_bfloat16;

template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Vec {
  T at[N];
};

namespace detail {
template <class T> struct Same {
  using type = T;
};
// {f(0), f(1), ...}
template <int N, class F> __device__ inline auto each(const F &f) {
  Vec<decltype(f(0)), N> v;
#pragma unroll
  for (int k = 0; k < N; ++k)
    v.at[k] = f(k);
  return v;
}
} // namespace detail

// A scalar operand next to lanes of T, converted to T.
template <class T> using Number = typename detail::Same<T>::type;

//===----------------------------------------------------------------------===//
// Operators, lane by lane
//===----------------------------------------------------------------------===//

#define BRAID_LANE_OPERATOR(op, Result)                                                                                \
  template <class T, int N> __device__ inline Vec<Result, N> operator op(const Vec<T, N> &a, const Vec<T, N> &b) {     \
    return detail::each<N>([&](int k) -> Result { return a.at[k] op b.at[k]; });                                       \
  }                                                                                                                    \
  template <class T, int N> __device__ inline Vec<Result, N> operator op(const Vec<T, N> &a, Number<T> b) {            \
    return detail::each<N>([&](int k) -> Result { return a.at[k] op b; });                                             \
  }                                                                                                                    \
  template <class T, int N> __device__ inline Vec<Result, N> operator op(Number<T> a, const Vec<T, N> &b) {            \
    return detail::each<N>([&](int k) -> Result { return a op b.at[k]; });                                             \
  }
BRAID_LANE_OPERATOR(+, T)
BRAID_LANE_OPERATOR(-, T)
BRAID_LANE_OPERATOR(*, T)
BRAID_LANE_OPERATOR(/, T)
BRAID_LANE_OPERATOR(%, T)
BRAID_LANE_OPERATOR(&, T)
BRAID_LANE_OPERATOR(|, T)
BRAID_LANE_OPERATOR(^, T)
BRAID_LANE_OPERATOR(<<, T)
BRAID_LANE_OPERATOR(>>, T)
BRAID_LANE_OPERATOR(==, bool)
BRAID_LANE_OPERATOR(!=, bool)
BRAID_LANE_OPERATOR(<, bool)
BRAID_LANE_OPERATOR(<=, bool)
BRAID_LANE_OPERATOR(>, bool)
BRAID_LANE_OPERATOR(>=, bool)
#undef BRAID_LANE_OPERATOR

template <class T, int N> __device__ inline Vec<T, N> operator-(const Vec<T, N> &a) {
  return detail::each<N>([&](int k) { return -a.at[k]; });
}
template <class T, int N> __device__ inline void operator+=(Vec<T, N> &a, const Vec<T, N> &b) { a = a + b; }

//===----------------------------------------------------------------------===//
// Making values
//===----------------------------------------------------------------------===//

template <int W, class T> __device__ inline Vec<T, W> splat(T x) {
  return detail::each<W>([&](int) { return x; });
}

// {first, first + 1, ...}
template <int W> __device__ inline Vec<int32_t, W> lane_index(int64_t first) {
  return detail::each<W>([&](int k) { return static_cast<int32_t>(first) + k; });
}

template <class T, int N>
__device__ inline Vec<T, N> select(const Vec<bool, N> &m, const Vec<T, N> &a, const Vec<T, N> &b) {
  return detail::each<N>([&](int k) { return m.at[k] ? a.at[k] : b.at[k]; });
}
template <class T> __device__ inline T select(bool m, const T &a, const T &b) { return m ? a : b; }

template <int N> __device__ inline Vec<bool, N> not_(const Vec<bool, N> &m) {
  return detail::each<N>([&](int k) { return !m.at[k]; });
}
__device__ inline bool not_(bool m) { return !m; }

// Returns `v` in the first n lanes and `identity` in the others.
template <class T, int N> __device__ inline Vec<T, N> keep(const Vec<T, N> &v, int n, Number<T> identity) {
  return detail::each<N>([&](int k) { return k < n ? v.at[k] : identity; });
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(bf16 x) { return __bfloat162float(x); }
__device__ inline float to_float(int32_t x) { return static_cast<float>(x); }
__device__ inline float to_float(int64_t x) { return static_cast<float>(x); }
// Round towards zero. Numbers out of range become the nearest int, and NaN becomes 0; for int64_t the instruction
// returns INT64_MIN for NaN.
__device__ inline int32_t to_int(float x) { return __float2int_rz(x); }
__device__ inline int64_t to_int64(float x) { return x != x ? 0 : __float2ll_rz(x); }
__device__ inline int32_t to_int8(float x) {
  const int32_t i = to_int(x);
  return i < INT8_MIN ? INT8_MIN : i > INT8_MAX ? INT8_MAX : i;
}
__device__ inline float mask_to_float(bool m) { return m ? 1.0f : 0.0f; }
__device__ inline int32_t mask_to_int(bool m) { return m ? 1 : 0; }
// Rounds `x` to bf16, as storing it to bf16 memory and loading it would.
__device__ inline float round_bf16(float x) { return __bfloat162float(__float2bfloat16_rn(x)); }

// Wraps `x` to i8, as storing it to i8 memory and loading it would.
__device__ inline int32_t wrap_int8(int32_t x) { return static_cast<int8_t>(x); }

template <class T, int N> __device__ inline Vec<float, N> to_float(const Vec<T, N> &x) {
  return detail::each<N>([&](int k) { return to_float(x.at[k]); });
}
template <int N> __device__ inline Vec<int32_t, N> to_int(const Vec<float, N> &x) {
  return detail::each<N>([&](int k) { return to_int(x.at[k]); });
}
template <int N> __device__ inline Vec<int32_t, N> to_int8(const Vec<float, N> &x) {
  return detail::each<N>([&](int k) { return to_int8(x.at[k]); });
}
template <int N> __device__ inline Vec<int32_t, N> wrap_int8(const Vec<int32_t, N> &x) {
  return detail::each<N>([&](int k) { return wrap_int8(x.at[k]); });
}
template <int N> __device__ inline Vec<float, N> mask_to_float(const Vec<bool, N> &m) {
  return detail::each<N>([&](int k) { return mask_to_float(m.at[k]); });
}
template <int N> __device__ inline Vec<int32_t, N> mask_to_int(const Vec<bool, N> &m) {
  return detail::each<N>([&](int k) { return mask_to_int(m.at[k]); });
}

namespace detail {
// Convert an element from its memory type to its register type, and back.
__device__ inline float widen(float x) { return x; }
__device__ inline float widen(bf16 x) { return to_float(x); }
__device__ inline int32_t widen(int32_t x) { return x; }
__device__ inline int64_t widen(int64_t x) { return x; }
__device__ inline int32_t widen(int8_t x) { return x; }
__device__ inline bool widen(bool x) { return x; }
__device__ inline void narrow(float x, float &to) { to = x; }
__device__ inline void narrow(float x, bf16 &to) { to = __float2bfloat16_rn(x); }
__device__ inline void narrow(int32_t x, int32_t &to) { to = x; }
__device__ inline void narrow(int64_t x, int64_t &to) { to = x; }
__device__ inline void narrow(int32_t x, int8_t &to) { to = static_cast<int8_t>(x); }
__device__ inline void narrow(bool x, bool &to) { to = x; }
template <class T, class X> __device__ inline T narrowed(X x) {
  T to;
  narrow(x, to);
  return to;
}
} // namespace detail

//===----------------------------------------------------------------------===//
// One element: row values and single stores
//===----------------------------------------------------------------------===//

template <class T> __device__ inline auto ld1(const T *p) { return detail::widen(load(p)); }
// Loads lane `lane` of a row of `lanes` lanes; 0 if there is no such lane.
template <class T, class I> __device__ inline float ld_lane(const T *row, int32_t lane, I lanes, int64_t stride = 1) {
  return lane >= 0 && lane < lanes ? ld1(row + lane * stride) : 0.0f;
}
template <class T, class X> __device__ inline void st1(T *p, X x) { store(p, detail::narrowed<T>(x)); }

//===----------------------------------------------------------------------===//
// Strided loads and stores: lane k is at p[k * stride]
//===----------------------------------------------------------------------===//

template <int W, class T> __device__ inline auto ld_strided(const T *p, int64_t stride, int n = W) {
  using X = decltype(ld1(p));
  return detail::each<W>([&](int k) { return k < n ? ld1(p + k * stride) : X{}; });
}
template <class T, class X, int W>
__device__ inline void st_strided(T *p, int64_t stride, const Vec<X, W> &v, int n = W) {
#pragma unroll
  for (int k = 0; k < W; ++k)
    if (k < n)
      st1(p + k * stride, v.at[k]);
}

//===----------------------------------------------------------------------===//
// Whole and partial loads and stores
//===----------------------------------------------------------------------===//

namespace detail {
// Elements of one access.
template <class T, int W> inline constexpr int packed = W * sizeof(T) < 16 ? W : 16 / sizeof(T);

template <class T, class X, int N> __device__ inline void narrow(const X *from, Pack<T, N> &to) {
#pragma unroll
  for (int k = 0; k < N; ++k)
    to.at[k] = narrowed<T>(from[k]);
}
// Converts two elements at a time, as the hardware instruction does.
template <int N> __device__ inline void narrow(const float *from, Pack<bf16, N> &to) {
  if constexpr (N == 1)
    to.at[0] = __float2bfloat16_rn(from[0]);
#pragma unroll
  for (int k = 0; k + 1 < N; k += 2) {
    const __nv_bfloat162 two = __floats2bfloat162_rn(from[k], from[k + 1]);
    to.at[k] = two.x;
    to.at[k + 1] = two.y;
  }
}
} // namespace detail

template <int W, class T> __device__ inline auto ld(const T *p) {
  constexpr int N = detail::packed<T, W>;
  Vec<decltype(ld1(p)), W> v;
#pragma unroll
  for (int i = 0; i < W; i += N) {
    const Pack<T, N> pack = load(reinterpret_cast<const Pack<T, N> *>(p + i));
#pragma unroll
    for (int k = 0; k < N; ++k)
      v.at[i + k] = detail::widen(pack.at[k]);
  }
  return v;
}
template <class T, class X, int W> __device__ inline void st(T *p, const Vec<X, W> &v) {
  constexpr int N = detail::packed<T, W>;
#pragma unroll
  for (int i = 0; i < W; i += N) {
    Pack<T, N> pack;
    detail::narrow(v.at + i, pack);
    store(reinterpret_cast<Pack<T, N> *>(p + i), pack);
  }
}

// Rounds to bf16, as storing to bf16 memory and loading would.
template <int N> __device__ inline Vec<float, N> round_bf16(const Vec<float, N> &x) {
  Pack<bf16, N> pack;
  detail::narrow(x.at, pack);
  return detail::each<N>([&](int k) { return to_float(pack.at[k]); });
}

template <int W, class T> __device__ inline auto ld(const T *p, int n) {
  return n == W ? ld<W>(p) : ld_strided<W>(p, 1, n);
}
template <class T, class X, int W> __device__ inline void st(T *p, const Vec<X, W> &v, int n) {
  if (n == W)
    st(p, v);
  else
    st_strided(p, 1, v, n);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

// A compile-time lane count; with W it makes a partial access a whole one.
template <int N> struct Count {
  __device__ constexpr operator int() const { return N; }
};

// Calls body(l, n) for l = first, first + step, ... below `end`; n is W, or the number of lanes
// left at the end.  Whole vectors have their own loop without a condition, so that several
// iterations have their loads in flight at once.
template <int W, class I, class Body> __device__ inline void each_vector(I first, I end, I step, const Body &body) {
  const I whole = end - end % W;
  I l = first;
#pragma unroll 4
  for (; l < whole; l += step)
    body(l, Count<W>());
  if (l < end)
    body(l, static_cast<int>(end - whole));
}

} // namespace braid
#endif // BRAID_CUDA_LANES_H
