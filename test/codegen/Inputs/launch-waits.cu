// Kernels that wait for the kernel in front of them, and some that do not: bench/launch_waits.py tells which.
#include "cuda/kernel.h"

using namespace braid;

__global__ void waits(const float *__restrict__ x, float *__restrict__ out, int n) {
  enter_kernel();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = x[i] / out[n % (i + 1)];
}
__global__ void reads_before(const volatile float *x, float *out, int) {
  const float value = x[threadIdx.x];
  enter_kernel();
  out[threadIdx.x] = value;
}
__global__ void writes_before(const float *x, float *out, int) {
  atomicAdd(out, 1.0f);
  enter_kernel();
  out[threadIdx.x] = x[threadIdx.x];
}
__global__ void waits_on_one_branch(const float *x, float *out, int n) {
  if (n > 3)
    enter_kernel();
  out[threadIdx.x] = x[threadIdx.x];
}
__global__ void ends_before(const float *x, float *out, int n) {
  if (threadIdx.x >= n)
    return;
  enter_kernel();
  out[threadIdx.x] = x[threadIdx.x];
}
__global__ void never_waits(const float *, float *, int) {}
