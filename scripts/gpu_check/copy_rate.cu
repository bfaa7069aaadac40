// How fast this GPU copies memory, which bounds kernels that compute little: prints the
// best and the median of 50 copies of 1 GiB by a kernel of 16-byte accesses, in bytes
// read and written a second.
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>

__global__ void copy(const uint4 *__restrict__ from, uint4 *__restrict__ to, size_t count) {
  for (size_t i = blockIdx.x * size_t{256} + threadIdx.x; i < count; i += gridDim.x * size_t{256})
    to[i] = from[i];
}

static bool fails(cudaError_t error, const char *what) {
  if (error != cudaSuccess)
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  return error != cudaSuccess;
}

int main() {
  constexpr size_t bytes = size_t{1} << 30;
  constexpr int runs = 50;
  uint4 *from, *to;
  cudaEvent_t start, stop;
  if (fails(cudaMalloc(&from, bytes), "cudaMalloc") || fails(cudaMalloc(&to, bytes), "cudaMalloc") ||
      fails(cudaMemset(from, 1, bytes), "cudaMemset") || fails(cudaEventCreate(&start), "cudaEventCreate") ||
      fails(cudaEventCreate(&stop), "cudaEventCreate"))
    return 1;
  float times[runs];
  for (float &time : times) {
    cudaEventRecord(start);
    copy<<<132 * 16, 256>>>(from, to, bytes / sizeof(uint4));
    cudaEventRecord(stop);
    if (fails(cudaEventSynchronize(stop), "copy") || fails(cudaEventElapsedTime(&time, start, stop), "cudaEventElapsedTime"))
      return 1;
  }
  std::sort(times, times + runs);
  std::printf("%.6e %.6e\n", 2.0 * bytes / times[0] * 1e3, 2.0 * bytes / times[runs / 2] * 1e3);
  return 0;
}
