// Failures, operands and the median time of a call, for the programs that time a GPU's libraries.
#ifndef BRAID_BENCH_GPU_TIMING_H
#define BRAID_BENCH_GPU_TIMING_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>
#include <random>
#include <string>
#include <vector>

[[noreturn]] inline void stop(const std::string &what, const std::string &why) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), why.c_str());
  std::exit(1);
}

inline void check(cudaError_t error, const char *what) {
  if (error != cudaSuccess)
    stop(what, cudaGetErrorString(error));
}

// Returns memory of the GPU with `count` bf16 numbers, of a normal distribution.
inline void *randomNumbers(size_t count) {
  static const std::vector<uint16_t> pattern = [] {
    std::vector<uint16_t> values(1 << 20);
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    for (uint16_t &value : values) {
      const float number = normal(generator);
      uint32_t bits;
      std::memcpy(&bits, &number, sizeof bits);
      value = static_cast<uint16_t>(bits >> 16);
    }
    return values;
  }();
  void *memory = nullptr;
  check(cudaMalloc(&memory, count * 2), "memory");
  for (size_t at = 0; at < count; at += pattern.size())
    check(cudaMemcpy(static_cast<uint16_t *>(memory) + at, pattern.data(), 2 * std::min(count - at, pattern.size()),
                     cudaMemcpyHostToDevice),
          "copy");
  return memory;
}

class Timer {
public:
  explicit Timer(double seconds) : seconds(seconds) {
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
  }

  // Returns the median seconds of a call on the default stream, over `seconds` of calls back to back.
  template <class Call> double time(Call call) {
    using Clock = std::chrono::steady_clock;
    for (int i = 0; i < 3; ++i)
      call();
    check(cudaDeviceSynchronize(), "the first calls");
    std::vector<double> times;
    for (auto start = Clock::now(); std::chrono::duration<double>(Clock::now() - start).count() < seconds;) {
      constexpr int atOnce = 4;
      check(cudaEventRecord(begin), "event");
      for (int i = 0; i < atOnce; ++i)
        call();
      check(cudaEventRecord(end), "event");
      check(cudaEventSynchronize(end), "a call");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, begin, end), "event");
      times.push_back(milliseconds * 1e-3 / atOnce);
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
  }

private:
  double seconds;
  cudaEvent_t begin, end;
};

#endif // BRAID_BENCH_GPU_TIMING_H
