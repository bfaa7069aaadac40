// Kernels, right and wrong: `planted NAME` launches the one of this name.
#include "cuda_runtime.h"
#include <cuda/Access.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace braid;

namespace {

constexpr int threads = 64, n = 1024;
struct alignas(16) Four {
  float v[4];
};

#define CHECK(call)                                                                                                    \
  if (cudaError_t error = call) {                                                                                      \
    std::printf("%s: %s\n", #call, cudaGetErrorString(error));                                                         \
    std::exit(1);                                                                                                      \
  }

__device__ float block_sum(float x) {
  __shared__ float buffer[threads / 32];
  Shared<float, threads / 32> sums(buffer);
  for (int lanes = 16; lanes; lanes /= 2)
    x += shuffle_xor(0xffffffffu, x, lanes);
  block_barrier();
  if (threadIdx.x % 32 == 0)
    sums.put(threadIdx.x / 32, x);
  block_barrier();
  float total = 0;
  for (int i = 0; i < threads / 32; ++i)
    total += sums.get(i);
  return total;
}

// Four rows a block: a group of 16 threads works on each, 16 bytes at a time.
__global__ __launch_bounds__(threads) void rows(const float *__restrict__ x, float *means) {
  const int group = threadIdx.x / 16, lane = threadIdx.x % 16, row = blockIdx.x * 4 + group;
  const unsigned mask = 0xffffu << group % 2 * 16;
  const Four four = load(reinterpret_cast<const Four *>(x + row * 64 + lane * 4));
  float sum = four.v[0] + four.v[1] + four.v[2] + four.v[3];
  for (int lanes = 8; lanes; lanes /= 2)
    sum += shuffle_xor(mask, sum, lanes);
  const float old = load(means + row);
  group_barrier(mask);
  if (lane == 0)
    store(means + row, old + sum / 64);
}

__global__ void sums(const float *x, float *out) {
  float total = block_sum(load(x + blockIdx.x * threads + threadIdx.x));
  if (threadIdx.x == 0)
    store(out + blockIdx.x, total);
}

__global__ void before_and_behind(const float *x, float *out, int distance) {
  store(out + threadIdx.x, load(x + threadIdx.x + distance));
}
__global__ void misaligned(const float *x, float *out) {
  store(reinterpret_cast<Four *>(out), load(reinterpret_cast<const Four *>(x + 1)));
}
__global__ void races_in_shared_memory(const float *x, float *out) {
  __shared__ float buffer[threads];
  Shared<float, threads> shared(buffer);
  shared.put(threadIdx.x, load(x + threadIdx.x));
  block_barrier();
  store(out + threadIdx.x, shared.get(threads - 1 - threadIdx.x));
  shared.put(threadIdx.x, 0.0f);
}
__global__ void leaves_out_a_block_barrier(const float *x, float *out) {
  __shared__ float buffer[threads];
  Shared<float, threads> shared(buffer);
  shared.put(threadIdx.x, load(x + threadIdx.x));
  store(out + threadIdx.x, shared.get(threads - 1 - threadIdx.x));
}
__global__ void races_between_threads(const float *, float *out) { store(out + threadIdx.x / 2, 1.0f); }
__global__ void races_between_blocks(const float *, float *out) { store(out + threadIdx.x, float(blockIdx.x)); }
__global__ void reads_what_a_block_writes(const float *, float *out) {
  float old = load(out + (blockIdx.x + 1) % gridDim.x);
  if (threadIdx.x == 0)
    store(out + blockIdx.x, old);
}
__global__ void leaves_out_a_group_barrier(const float *, float *out) {
  float old = load(out);
  if (threadIdx.x == 0)
    store(out, old + 1);
}
__global__ void halves(const float *, float *out) {
  // Neighbours of two bytes are no race.
  store(reinterpret_cast<unsigned short *>(out) + blockIdx.x * threads + threadIdx.x, 1);
}
__global__ void not_all_at_barrier(const float *, float *out) {
  if (threadIdx.x < 32)
    block_barrier();
  store(out + threadIdx.x, 1.0f);
}
__global__ void two_barriers(const float *, float *out) {
  if (threadIdx.x < 32)
    block_barrier();
  else
    block_barrier();
  store(out + threadIdx.x, 1.0f);
}
__global__ void not_all_at_shuffle(const float *, float *out) {
  float x = threadIdx.x;
  if (threadIdx.x % 32 < 16)
    x = shuffle_xor(0xffffffffu, x, 1);
  store(out + threadIdx.x, x);
}
__global__ void shuffles_from_outside(const float *, float *out) {
  float x = shuffle_xor(0xffffu << threadIdx.x % 32 / 16 * 16, float(threadIdx.x), 16);
  store(out + threadIdx.x, x);
}
__global__ void beyond_shared_memory(const float *, float *out) {
  __shared__ float buffer[threads];
  Shared<float, threads> shared(buffer);
  shared.put(threadIdx.x + 1, 1.0f);
  store(out + threadIdx.x, 1.0f);
}
__global__ void unwritten_shared_memory(const float *, float *out) {
  __shared__ float buffer[threads];
  Shared<float, threads> shared(buffer);
  if (blockIdx.x == 0)
    shared.put(threadIdx.x, 1.0f);
  store(out + blockIdx.x * threads + threadIdx.x, shared.get(threadIdx.x));
}

__global__ void much_shared_memory(const float *, float *out) {
  constexpr int half = 6 << 10;
  __shared__ float memory[half], other_memory[half + 1];
  Shared<float, half> shared(memory);
  Shared<float, half + 1> other(other_memory);
  shared.put(threadIdx.x, 1.0f);
  other.put(threadIdx.x, 1.0f);
  store(out + blockIdx.x * threads + threadIdx.x, shared.get(threadIdx.x) + other.get(threadIdx.x));
}

// Launched so that they begin before what is in front of them has ended.
__global__ void waits_for_what_is_in_front(const float *x, float *out) {
  enter_kernel();
  store(out + blockIdx.x * threads + threadIdx.x, load(x + threadIdx.x));
}
__global__ void reads_before_it_waits(const float *x, float *out) {
  const float value = load(x + threadIdx.x);
  enter_kernel();
  store(out + blockIdx.x * threads + threadIdx.x, value);
}
__global__ void ends_without_waiting(const float *, float *out) {
  if (threadIdx.x % 2)
    return;
  enter_kernel();
  store(out + blockIdx.x * threads + threadIdx.x, 1.0f);
}

float *device(bool write) {
  float *p;
  CHECK(cudaMalloc(&p, n * sizeof(float)));
  float host[n];
  for (int i = 0; i < n; ++i)
    host[i] = i % 7;
  if (write)
    CHECK(cudaMemcpy(p, host, sizeof(host), cudaMemcpyHostToDevice));
  return p;
}

bool beginEarly = false;

template <class... P, class... A> void launch(unsigned blocks, unsigned size, void (*kernel)(P...), A... args) {
  cudaLaunchConfig_t config;
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(size);
  cudaLaunchAttribute early = {cudaLaunchAttributeProgrammaticStreamSerialization, {1}};
  config.attrs = &early;
  config.numAttrs = beginEarly;
  CHECK(cudaLaunchKernelEx(&config, kernel, args...));
  CHECK(cudaDeviceSynchronize());
}

template <class... P, class... A> void run(int blocks, void (*kernel)(P...), A... args) {
  launch(blocks, threads, kernel, args...);
}

float at(const float *p, int i) {
  float x;
  CHECK(cudaMemcpy(&x, p + i, sizeof(x), cudaMemcpyDeviceToHost));
  return x;
}

} // namespace

int main(int argc, char **argv) {
  std::string name = argc > 1 ? argv[1] : "";
  const float *x = device(true);
  float *out = device(name == "right" || name.find("read") == 0 || name.find("leaves") == 0);
  beginEarly = name.find("wait") != std::string::npos;
  auto two = [&](auto kernel) { run(2, kernel, x, out); };
  if (name == "right") {
    run(4, rows, x, out);
    two(sums);
    two(halves);
    run(4, rows, x, out);
    std::printf("mean of row 15: %.6f\n", at(out, 15));
  } else if (name == "before") {
    run(1, before_and_behind, x, out, -16);
  } else if (name == "behind") {
    run(1, before_and_behind, x, out, n - threads + 1);
  } else if (name == "unwritten") {
    run(1, before_and_behind, device(false), out, 0);
  } else if (name == "unwritten_copy") {
    at(out, 5);
  } else if (name == "zeroed_as_a_whole") {
    CHECK(cudaMemset(out, 0, n * sizeof(float)));
    at(out, 5);
  } else if (name == "zeroed_in_part") {
    CHECK(cudaMemset(out + 5, 0, sizeof(float)));
    std::printf("%.1f\n", at(out, 5));
  } else if (name == "large_block") {
    launch(1, 1024 + 32, before_and_behind, x, out, 0);
  } else if (name == "large_grid") {
    launch(1u << 31, threads, before_and_behind, x, out, 0);
  } else if (name == "empty_grid") {
    launch(0, threads, before_and_behind, x, out, 0);
  } else if (name == "misaligned") {
    run(1, misaligned, x, out);
  }
#define NAMED(kernel)                                                                                                  \
  else if (name == #kernel) {                                                                                          \
    two(kernel);                                                                                                       \
  }
  NAMED(races_in_shared_memory)
  NAMED(leaves_out_a_block_barrier)
  NAMED(races_between_threads)
  NAMED(races_between_blocks)
  NAMED(reads_what_a_block_writes)
  NAMED(leaves_out_a_group_barrier)
  NAMED(not_all_at_barrier)
  NAMED(two_barriers)
  NAMED(not_all_at_shuffle)
  NAMED(shuffles_from_outside)
  NAMED(beyond_shared_memory)
  NAMED(unwritten_shared_memory)
  NAMED(much_shared_memory)
  NAMED(waits_for_what_is_in_front)
  NAMED(reads_before_it_waits)
  NAMED(ends_without_waiting)
  else {
    std::printf("no kernel is named '%s'\n", name.c_str());
    return 1;
  }
  std::printf("end\n");
}
