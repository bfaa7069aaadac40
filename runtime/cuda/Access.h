//===- Access.h - how device code touches memory and other threads --------===//
//
// Generated and hand-written kernels reach global memory through load and store, shared memory
// through Shared, and other threads through the barriers and the shuffle below, and through nothing
// else.  This file also wraps the instructions for which CUDA has no function.  Include it as
// <cuda/Access.h>: a checker that runs kernels on the host puts its own version first on the
// include path.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_ACCESS_H
#define BRAID_CUDA_ACCESS_H

#include <cuda_runtime.h>

namespace braid {

namespace detail {
// Whether one instruction moves an aligned value of 8 or 16 bytes, whatever its members.
template <class T> inline constexpr bool is_pair = sizeof(T) == 8 && alignof(T) == 8;
template <class T> inline constexpr bool is_quad = sizeof(T) == 16 && alignof(T) == 16;

template <class To, class From> __device__ inline To copy_bits(const From &from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
} // namespace detail

// Loads a value of a trivially copyable type of up to 16 bytes, aligned to its type.  The bits are
// in a register before the copy, because a copy from memory would go byte by byte.
template <class T> __device__ inline T load(const T *p) {
  if constexpr (detail::is_quad<T>) {
    const uint4 bits = *reinterpret_cast<const uint4 *>(p);
    return detail::copy_bits<T>(bits);
  } else if constexpr (detail::is_pair<T>) {
    const uint2 bits = *reinterpret_cast<const uint2 *>(p);
    return detail::copy_bits<T>(bits);
  } else {
    return *p;
  }
}

template <class T> __device__ inline void store(T *p, T v) {
  if constexpr (detail::is_quad<T>)
    *reinterpret_cast<uint4 *>(p) = detail::copy_bits<uint4>(v);
  else if constexpr (detail::is_pair<T>)
    *reinterpret_cast<uint2 *>(p) = detail::copy_bits<uint2>(v);
  else
    *p = v;
}

// Asks the L2 cache to fetch the line at `p` for a later load.
__device__ inline void prefetch(const void *p) { asm volatile("prefetch.L2 [%0];" ::"l"(p)); }

// The first statement of every kernel.  With programmatic dependent launch, a kernel may begin
// before the previous kernel ends.  Then this call waits for the previous kernel and its writes,
// and lets the next kernel begin.
__device__ inline void enter_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// An array in shared memory: `__shared__ T memory[N]; const Shared<T, N> values(memory);`
template <class T, int N> struct Shared {
  T *array;

  __device__ Shared(T (&array)[N]) : array(array) {}
  __device__ T get(int i) const { return array[i]; }
  __device__ void put(int i, T v) const { array[i] = v; }
};

// Barriers for all threads of the block, and for the threads of the warp in `mask`.  Stores before
// the barrier are visible after it.
__device__ inline void block_barrier() { __syncthreads(); }
__device__ inline void group_barrier(unsigned mask) { __syncwarp(mask); }

// Returns `v` of the thread whose lane number differs from this thread's in the bits of
// `lane_mask`; all threads in `mask` take part.
template <class T> __device__ inline T shuffle_xor(unsigned mask, T v, int lane_mask) {
  return __shfl_xor_sync(mask, v, lane_mask);
}

// One instruction each: 2^x with an error of 2 units in the last place and denormals as zero; the
// larger of two numbers, or NaN if either is NaN.
__device__ inline float exp2_approx(float x) {
  asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
}
__device__ inline float max_nan(float a, float b) {
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
}

} // namespace braid
#endif // BRAID_CUDA_ACCESS_H
