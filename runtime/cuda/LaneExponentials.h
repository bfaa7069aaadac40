//===- LaneExponentials.h - a maximum and a sum of exponentials -----------===//
//
// For softmax of a row x: its maximum m and the sum of exp(x - m), in one pass over the row.  Each
// thread keeps the maximum of its lanes so far, and for each of its N lanes the sum of exp(x - that
// maximum).  It rescales the sums when the maximum grows.  At the end the threads of a row rescale
// to the row's maximum and add in a fixed order.
//
// Lanes of -infinity add nothing.  If all lanes are -infinity, or one is NaN or +infinity, the sum
// is NaN, as when each lane computes x - m.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_LANEEXPONENTIALS_H
#define BRAID_CUDA_LANEEXPONENTIALS_H

#include "cuda/LaneMath.h"
#include "cuda/LaneReduce.h"

namespace braid {

template <int N> struct Exponentials {
  float max = -INFINITY;
  Vec<float, N> sum = {};

  __device__ void add(const Vec<float, N> &x) {
    const float before = base();
    max = maximum(max, detail::lanes_of_thread<detail::Max>(x));
    const float now = base(), factor = exp_approx(before - now);
#pragma unroll
    for (int k = 0; k < N; ++k)
      sum.at[k] = ::fmaf(sum.at[k], factor, exp_approx(x.at[k] - now));
  }
  // The number that is subtracted; finite even while all lanes are -infinity.
  __device__ float base() const { return maximum(max, -3.40282347e38f); }
};

template <int T, int N> __device__ inline float row_max(const Exponentials<N> &e) {
  return detail::row_reduce<detail::Max, T>(e.max);
}
// `m` is at least the maximum of the row.
template <int T, int N> __device__ inline float row_sum(const Exponentials<N> &e, float m) {
  const float sum = detail::lanes_of_thread<detail::Sum>(e.sum);
  return detail::row_reduce<detail::Sum, T>(sum * exp(e.base() - m));
}

} // namespace braid
#endif // BRAID_CUDA_LANEEXPONENTIALS_H
