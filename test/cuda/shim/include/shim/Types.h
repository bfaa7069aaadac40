//===- Types.h - vectors, indices and marks of CUDA C++ -------------------===//
//
// The indices of the current CUDA thread are in thread-local memory of the host, because its fiber never leaves the
// host thread that made it. Each host thread has one copy of shared memory, because blocks run one after the other.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_TYPES_H
#define BRAID_SHIM_TYPES_H

#include <cstddef>
#include <cstdint>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define CUDART_CB

#define BRAID_SHIM_VECTOR(name, type, align2, align4)                                                                  \
  struct name##1 { type x; };                                                                                          \
  struct alignas(align2) name##2 { type x, y; };                                                                       \
  struct name##3 { type x, y, z; };                                                                                    \
  struct alignas(align4) name##4 { type x, y, z, w; };                                                                 \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }                                                     \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
BRAID_SHIM_VECTOR(float, float, 8, 16)
BRAID_SHIM_VECTOR(int, int, 8, 16)
BRAID_SHIM_VECTOR(uint, unsigned, 8, 16)
BRAID_SHIM_VECTOR(ushort, unsigned short, 4, 8)
BRAID_SHIM_VECTOR(double, double, 16, 16)
BRAID_SHIM_VECTOR(longlong, long long, 16, 16)
BRAID_SHIM_VECTOR(ulonglong, unsigned long long, 16, 16)
#undef BRAID_SHIM_VECTOR

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

typedef struct CUstream_st *cudaStream_t;

// Indices of the current thread of a kernel.
extern constinit thread_local uint3 threadIdx, blockIdx;
extern constinit thread_local dim3 blockDim, gridDim;
constexpr int warpSize = 32;

// Element types, with the names of the libraries.
typedef enum cudaDataType_t {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_R_8I = 3,
  CUDA_R_32I = 10,
  CUDA_R_16BF = 14,
  CUDA_R_64I = 24
} cudaDataType;
typedef enum libraryPropertyType_t { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL } libraryPropertyType;

#endif // BRAID_SHIM_TYPES_H
