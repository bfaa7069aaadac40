//===- Device.h - what a generated program has, for tests of its calls -----===//
//
// A context with a stream, whose C functions are in Device.cpp; and vectors in the
// device's memory.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TEST_RUNTIME_CUDA_DEVICE_H
#define BRAID_TEST_RUNTIME_CUDA_DEVICE_H

#include "cuda/braid_cuda.h"
#include "gpu/Streams.h"

#include <cuda_runtime.h>

#include <gtest/gtest.h>
#include <string>
#include <vector>

struct br_context {
  braid::GpuStream stream;
  int32_t index = 0; // in every group
  std::string error; // the first
  const br_matmul_rest *rest = nullptr;
};

namespace braid::test {

inline void succeed(cudaError_t error) { ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error); }

// Memory `shift` elements behind an address with the alignment of buffers.
template <class T> class OnDevice {
public:
  explicit OnDevice(const std::vector<T> &values, size_t shift = 0) : count(values.size()) {
    succeed(cudaMalloc(reinterpret_cast<void **>(&base), (count + shift + 1) * sizeof(T)));
    first = base + shift;
    if (count)
      succeed(cudaMemcpy(first, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~OnDevice() { cudaFree(base); }
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;

  T *data() const { return first; }
  std::vector<T> read() const {
    std::vector<T> values(count);
    succeed(cudaDeviceSynchronize());
    if (count)
      succeed(cudaMemcpy(values.data(), first, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

private:
  size_t count;
  T *base = nullptr, *first = nullptr;
};

} // namespace braid::test
#endif // BRAID_TEST_RUNTIME_CUDA_DEVICE_H
