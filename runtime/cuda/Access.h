//===- Access.h - how device code touches memory and other threads --------===//
//
// Kernels, generated and written, reach global memory by load and store, shared
// memory by Shared, and other threads by the barriers and the shuffle below, and in no
// other way; what CUDA has instructions but no functions for is here, too.  Include it as <cuda/Access.h>: a checker
// that runs kernels on the host puts its own in front on the include path.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_ACCESS_H
#define BRAID_CUDA_ACCESS_H

#include <cuda_runtime.h>

namespace braid {

namespace detail {
// One instruction for an aligned value of 8 or 16 bytes, whatever it is made of.
template <class T> inline constexpr bool is_pair = sizeof(T) == 8 && alignof(T) == 8;
template <class T> inline constexpr bool is_quad = sizeof(T) == 16 && alignof(T) == 16;

template <class To, class From> __device__ inline To copy_bits(const From &from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
} // namespace detail

// Of a trivially copyable type, up to 16 bytes, at its own alignment.  The bits are in a
// register before they are copied: a copy out of memory is one by bytes.
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

// Has the L2 cache fetch what lies there, for a load that comes later.
__device__ inline void prefetch(const void *p) { asm volatile("prefetch.L2 [%0];" ::"l"(p)); }

// The first statement of every kernel.  Where the kernel was launched so that it begins before
// the one in front of it has ended (programmatic dependent launch), it waits for that end here,
// with all that was written until then, and lets the next one begin in turn.
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

// Waits for all threads of the block, and for those of the warp in `mask`; what they
// stored before is seen after.
__device__ inline void block_barrier() { __syncthreads(); }
__device__ inline void group_barrier(unsigned mask) { __syncwarp(mask); }

// The value of `v` that the thread has whose number in the warp differs in these bits;
// all threads in `mask` take part.
template <class T> __device__ inline T shuffle_xor(unsigned mask, T v, int lane_mask) {
  return __shfl_xor_sync(mask, v, lane_mask);
}

// One instruction each: 2^x to 2 units in the last place, with denormals as zero; the larger
// one, or NaN if one of them is.
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
