//===- kernel.h - includes of generated CUDA kernels ----------------------===//
//
// A generated kernel works on rows of lanes.  T threads share a row, and each of them takes W lanes
// at once. cpu/kernel.h has the same function names, so that a body reads the same on both.
// Functions that make lanes from other values take the number of lanes as a template argument;
// functions that the threads of a row compute together take the number of threads:
//
//   __global__ __launch_bounds__(192) void scale_kernel(const float *__restrict__ a0, float *__restrict__ o0) {
//     constexpr int L = 768, W = 4, T = 192, ITERS = 1;
//     constexpr int64_t R = 256;
//     enter_kernel();
//     using V = Vec<float, W>;
//     for (int64_t r = blockIdx.x; r < R; r += gridDim.x) {
//       V sum0 = splat<W>(0.0f);
//   #pragma unroll
//       for (int i = 0, l = threadIdx.x * W; i < ITERS; ++i, l += T * W) {
//         V t0 = ld<W>(a0 + r * L + l);
//         sum0 += t0;
//       }
//       float t1 = row_sum<T>(sum0);
//       ...
//
//  - Be inside `namespace braid`, so that `exp` of a float is ours.
//  - A number next to a lane value broadcasts.  Functions take operands of equal types; `splat`
//    converts a number to lanes.
//  - Compile without -use_fast_math: NaN and infinity keep their meaning.
//
// List of all CUDA features in these headers and in generated kernels.  With it they can be
// compiled as plain C++ over another <cuda/Access.h>, <cuda_runtime.h> and <cuda_bf16.h>:
//
//   __global__ __device__ __host__ __shared__ __launch_bounds__(n) __restrict__
//   __grid_constant__
//   #pragma unroll [n]
//   threadIdx.x blockIdx.x blockDim.x gridDim.x     one dimension
//   sqrtf rsqrtf floorf ceilf fabsf expf exp2f expm1f logf log1pf tanhf erff sinf cosf
//   copysignf powf fmaf                             in the global namespace
//   __nv_bfloat16 (2 bytes, trivially copyable), __nv_bfloat162 {x, y},
//   __bfloat162float __float2bfloat16_rn __floats2bfloat162_rn
//   cudaStream_t cudaError_t dim3, cudaLaunchConfig_t {gridDim, blockDim, stream, attrs, numAttrs},
//   cudaLaunchAttribute {id, val.programmaticStreamSerializationAllowed}, the template cudaLaunchKernelEx(&config,
//   kernel, args...), which converts the arguments to the kernel's parameters
//
// Only Access.h uses __syncthreads, __syncwarp, __shfl_xor_sync, uint2, uint4 and inline assembly.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_KERNEL_H
#define BRAID_CUDA_KERNEL_H

#include "braid_rt.h"

#include "cuda/LaneExponentials.h"
#include "cuda/LaneMath.h"
#include "cuda/LanePhilox.h"
#include "cuda/LaneReduce.h"
#include "cuda/Lanes.h"
#include "cuda/Launch.h"

#endif // BRAID_CUDA_KERNEL_H
