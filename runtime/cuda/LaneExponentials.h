//===- LaneExponentials.h - a maximum and a sum of exponentials -----------===//
//
// What softmax wants of a row x: its maximum m and the sum of exp(x - m), from one pass over
// the row.  Each thread has the maximum of what it has seen, and for each of its N lanes the
// sum of exp(x - that maximum), which it scales when the maximum grows.  The threads of a row
// then scale to the maximum of all, and add in a fixed order.
//
// Lanes of -infinity add nothing.  If all are, or if one is NaN or +infinity, the sum is NaN, as
// it is where x - m is computed for each lane.
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
  // What is subtracted: a number as long as all lanes are -infinity.
  __device__ float base() const { return maximum(max, -3.40282347e38f); }
};

template <int T, int N> __device__ inline float row_max(const Exponentials<N> &e) {
  return detail::row_reduce<detail::Max, T>(e.max);
}
// `m` is the maximum of the row, or more.
template <int T, int N> __device__ inline float row_sum(const Exponentials<N> &e, float m) {
  const float sum = detail::lanes_of_thread<detail::Sum>(e.sum);
  return detail::row_reduce<detail::Sum, T>(sum * exp(e.base() - m));
}

} // namespace braid
#endif // BRAID_CUDA_LANEEXPONENTIALS_H
