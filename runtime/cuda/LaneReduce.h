//===- LaneReduce.h - reductions over the lanes of several threads --------===//
//
// T threads share a row.  T is a power of two up to a warp, so that a warp has 32 / T rows, or
// several whole warps.  A block has one such group or more.  A reduction adds the lanes of each
// thread, then the threads of a warp by shuffles, then the warps through shared memory.  The tree
// is always the same, so every thread gets the same bits in every run.
//
// Groups of several warps synchronize at the block's barrier, so all groups of a block must have
// equally many rows.
//
// maximum and minimum are defined here because the trees need them.  NaN wins, as in
// arith.maximumf; the sign of zero is not ordered.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_LANEREDUCE_H
#define BRAID_CUDA_LANEREDUCE_H

#include "cuda/Lanes.h"

#include <cmath>

namespace braid {

//===----------------------------------------------------------------------===//
// Maxima and minima
//===----------------------------------------------------------------------===//

__device__ inline float maximum(float a, float b) { return max_nan(a, b); }
__device__ inline float minimum(float a, float b) { return a < b || a != a ? a : b; }
__device__ inline int32_t maximum(int32_t a, int32_t b) { return a > b ? a : b; }
__device__ inline int32_t minimum(int32_t a, int32_t b) { return a < b ? a : b; }
__device__ inline int64_t maximum(int64_t a, int64_t b) { return a > b ? a : b; }
__device__ inline int64_t minimum(int64_t a, int64_t b) { return a < b ? a : b; }
// maxnumf and minnumf of arith: a number wins over NaN.
__device__ inline float maxnum(float a, float b) { return a > b || b != b ? a : b; }
__device__ inline float minnum(float a, float b) { return a < b || b != b ? a : b; }

#define BRAID_LANE_FUNCTION(name)                                                                                      \
  template <class T, int N> __device__ inline Vec<T, N> name(const Vec<T, N> &a, const Vec<T, N> &b) {                 \
    return detail::each<N>([&](int k) { return name(a.at[k], b.at[k]); });                                             \
  }
BRAID_LANE_FUNCTION(maximum)
BRAID_LANE_FUNCTION(minimum)
BRAID_LANE_FUNCTION(maxnum)
BRAID_LANE_FUNCTION(minnum)
#undef BRAID_LANE_FUNCTION

//===----------------------------------------------------------------------===//
// The threads of a row
//===----------------------------------------------------------------------===//

// Threads of a warp, and the upper limit of warps of a block.
inline constexpr int warp_threads = 32, max_warps = 32;

namespace detail {
__host__ __device__ constexpr int power_ceil(int n) {
  int power = 1;
  while (power < n)
    power *= 2;
  return power;
}
// Lane mask of the threads that share this thread's row; all lanes if a row has whole warps.
template <int T> __device__ inline unsigned group_mask() {
  if constexpr (T >= warp_threads)
    return ~0u;
  else
    return ((1u << T) - 1u) << (threadIdx.x % warp_threads / T * T);
}
} // namespace detail

// Whether this thread stores the row's values.
template <int T> __device__ inline bool leader() { return threadIdx.x % T == 0; }

// Waits for all threads of the row.
template <int T> __device__ inline void row_barrier() {
  if constexpr (T > warp_threads)
    block_barrier();
  else
    group_barrier(detail::group_mask<T>());
}

//===----------------------------------------------------------------------===//
// Reductions over a row
//===----------------------------------------------------------------------===//

namespace detail {
struct Sum {
  template <class X> __device__ static X of(const X &a, const X &b) { return a + b; }
  __device__ static float identity(float) { return 0.0f; }
  __device__ static int32_t identity(int32_t) { return 0; }
};
struct Max {
  template <class X> __device__ static X of(const X &a, const X &b) { return maximum(a, b); }
  __device__ static float identity(float) { return -INFINITY; }
  __device__ static int32_t identity(int32_t) { return INT32_MIN; }
};

// Combines the upper half of the lanes with the lower half until one lane is left.
template <class Op, class X, int N> __device__ inline X lanes_of_thread(Vec<X, N> v) {
#pragma unroll
  for (int half = N / 2; half > 0; half /= 2)
#pragma unroll
    for (int k = 0; k < half; ++k)
      v.at[k] = Op::of(v.at[k], v.at[k + half]);
  return v.at[0];
}

template <class Op, int T, class X> __device__ inline X row_reduce(X x) {
  constexpr int in_warp = T < warp_threads ? T : warp_threads;
#pragma unroll
  for (int distance = in_warp / 2; distance > 0; distance /= 2)
    x = Op::of(x, shuffle_xor(group_mask<T>(), x, distance));
  if constexpr (T > warp_threads) {
    static_assert(T % warp_threads == 0);
    constexpr int warps = T / warp_threads, padded = power_ceil(warps);
    __shared__ X memory[max_warps];
    const Shared<X, max_warps> partial(memory);
    block_barrier(); // until all threads have read the previous reduction
    if (threadIdx.x % warp_threads == 0)
      partial.put(threadIdx.x / warp_threads, x);
    block_barrier();
    const int warp = threadIdx.x % padded;
    x = warp < warps ? partial.get(threadIdx.x / T * warps + warp) : Op::identity(x);
#pragma unroll
    for (int distance = padded / 2; distance > 0; distance /= 2)
      x = Op::of(x, shuffle_xor(~0u, x, distance));
  }
  return x;
}
} // namespace detail

template <int T, class X, int N> __device__ inline X row_sum(const Vec<X, N> &v) {
  return detail::row_reduce<detail::Sum, T>(detail::lanes_of_thread<detail::Sum>(v));
}
template <int T, class X, int N> __device__ inline X row_max(const Vec<X, N> &v) {
  return detail::row_reduce<detail::Max, T>(detail::lanes_of_thread<detail::Max>(v));
}

//===----------------------------------------------------------------------===//
// Sums of many terms
//
// Every few terms, a sum is carried into a total by compensated addition (Kahan, Neumaier).  So the
// error does not grow with the number of terms.
//===----------------------------------------------------------------------===//

// `lost` accumulates the rounding errors of additions to `sum`.
template <class X> struct Total {
  X sum, lost;
};

template <class X> __device__ inline void carry(X &sum, Total<X> &total) {
  const X next = total.sum + sum, added = next - total.sum;
  total.lost += (total.sum - (next - added)) + (sum - added);
  total.sum = next;
  sum = X{};
}

// Called after a thread's last term.  If the corrected total is NaN, the plain total is the result.
template <class X> __device__ inline void settle(X &sum, Total<X> &total) {
  carry(sum, total);
  const X whole = total.sum + total.lost;
  sum = select(whole == whole, whole, total.sum);
}

template <class X, int N> __device__ inline void carry(X (&sum)[N], Total<X> (&total)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    carry(sum[i], total[i]);
}
template <class X, int N> __device__ inline void settle(X (&sum)[N], Total<X> (&total)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    settle(sum[i], total[i]);
}

//===----------------------------------------------------------------------===//
// Reductions over the rows of a block
//===----------------------------------------------------------------------===//

namespace detail {
template <class X> __device__ inline X shuffle_xor_each(const X &x, int distance) {
  return shuffle_xor(~0u, x, distance);
}
template <class X, int N> __device__ inline Vec<X, N> shuffle_xor_each(const Vec<X, N> &x, int distance) {
  return each<N>([&](int k) { return shuffle_xor(~0u, x.at[k], distance); });
}

// Combines x of threads with the same number in each of the block's PARTS parts, in the order of
// the parts.
template <class Op, int T, int PARTS, class X> __device__ inline void combine_parts(X &x, int part, int thread) {
  __shared__ X memory[PARTS * T];
  const Shared<X, PARTS * T> partial(memory);
  block_barrier();
  if (thread < T)
    partial.put(part * T + thread, x);
  block_barrier();
  x = partial.get(thread % T);
#pragma unroll 1 // runs once in a block: leave the registers to its rows
  for (int other = 1; other < PARTS; ++other)
    x = Op::of(x, partial.get(other * T + thread % T));
}

// Groups of several warps are the parts of the block.  Groups that share a warp are combined by
// shuffles first; then the warps are the parts.
template <class Op, int T, int ROWS, class X> __device__ inline void combine_groups(X &x) {
  if constexpr (T > warp_threads) {
    combine_parts<Op, T, ROWS>(x, threadIdx.x / T, threadIdx.x % T);
  } else {
    static_assert(T * ROWS % warp_threads == 0);
    constexpr int warps = T * ROWS / warp_threads;
#pragma unroll
    for (int distance = T; distance < warp_threads; distance *= 2)
      x = Op::of(x, shuffle_xor_each(x, distance));
    if constexpr (warps > 1)
      combine_parts<Op, T, warps>(x, threadIdx.x / warp_threads, threadIdx.x % warp_threads);
    else
      group_barrier(~0u); // the memory that the groups have read may be overwritten now
  }
}
template <class Op, int T, int ROWS, class X, int N> __device__ inline void combine_groups(X (&x)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    combine_groups<Op, T, ROWS>(x[i]);
}
} // namespace detail

// Replace x by its sum, or its maximum, over the ROWS groups of T threads.
template <int T, int ROWS, class X> __device__ inline void sum_groups(X &x) {
  detail::combine_groups<detail::Sum, T, ROWS>(x);
}
template <int T, int ROWS, class X> __device__ inline void max_groups(X &x) {
  detail::combine_groups<detail::Max, T, ROWS>(x);
}

} // namespace braid
#endif // BRAID_CUDA_LANEREDUCE_H
