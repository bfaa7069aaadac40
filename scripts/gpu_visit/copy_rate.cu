// Measures how fast this GPU copies memory, the bound of kernels that compute little:
//   copy_rate BYTES RUNS
// prints the best and the median of copies by a kernel of 16-byte accesses, in bytes read and written per second.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

__global__ void copy(const uint4 *__restrict__ from, uint4 *__restrict__ to, size_t count) {
  for (size_t i = blockIdx.x * size_t{256} + threadIdx.x; i < count; i += gridDim.x * size_t{256})
    to[i] = from[i];
}

static bool fails(cudaError_t error, const char *what) {
  if (error != cudaSuccess)
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  return error != cudaSuccess;
}

int main(int argc, char **argv) {
  const size_t bytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const int runs = argc > 2 ? std::atoi(argv[2]) : 0;
  if (bytes < sizeof(uint4) || runs < 1) {
    std::fprintf(stderr, "usage: copy_rate BYTES RUNS\n");
    return 2;
  }
  uint4 *from, *to;
  cudaEvent_t start, stop;
  int processors = 0;
  if (fails(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "cudaDeviceGetAttribute") ||
      fails(cudaMalloc(&from, bytes), "cudaMalloc") || fails(cudaMalloc(&to, bytes), "cudaMalloc") ||
      fails(cudaMemset(from, 1, bytes), "cudaMemset") || fails(cudaEventCreate(&start), "cudaEventCreate") ||
      fails(cudaEventCreate(&stop), "cudaEventCreate"))
    return 1;
  const size_t count = bytes / sizeof(uint4);
  const auto blocks = static_cast<unsigned>(std::min<size_t>((count + 255) / 256, size_t(processors) * 16));
  cudaLaunchConfig_t launch = {};
  launch.gridDim = dim3(blocks);
  launch.blockDim = dim3(256);
  std::vector<float> times(runs + 1); // the first loads the kernel
  for (float &time : times)
    if (fails(cudaEventRecord(start), "cudaEventRecord") ||
        fails(cudaLaunchKernelEx(&launch, copy, from, to, count), "cudaLaunchKernelEx") ||
        fails(cudaEventRecord(stop), "cudaEventRecord") || fails(cudaEventSynchronize(stop), "copy") ||
        fails(cudaEventElapsedTime(&time, start, stop), "cudaEventElapsedTime"))
      return 1;
  std::sort(times.begin() + 1, times.end());
  const double moved = 2.0 * count * sizeof(uint4);
  std::printf("%.6e %.6e\n", moved / times[1] * 1e3, moved / times[1 + runs / 2] * 1e3);
  return 0;
}
