// Two devices that reduce on a stream of their own what another stream has computed: `streams NAME` plants an
// error.  With "graph" as the second argument the step is captured and replayed.
#include "cuda_runtime.h"
#include "nccl.h"
#include <cuda/Access.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

using namespace braid;

namespace {

constexpr int threads = 32, n = 256;
std::string planted;
bool asGraph;

#define CHECK(call)                                                                                                    \
  if (auto error = call) {                                                                                             \
    std::printf("%s: %d\n", #call, int(error));                                                                        \
    std::exit(1);                                                                                                      \
  }

__global__ void twice(const float *x, float *y) {
  const int i = blockIdx.x * threads + threadIdx.x;
  store(y + i, 2 * load(x + i));
}

void launch(cudaStream_t stream, const float *x, float *y) {
  cudaLaunchConfig_t config;
  config.gridDim = dim3(n / threads);
  config.blockDim = dim3(threads);
  config.stream = stream;
  CHECK(cudaLaunchKernelEx(&config, twice, x, y));
}

struct Rank {
  cudaStream_t compute, communication, copy;
  cudaEvent_t produced, reduced, copied, ended;
  float *x, *y, *z, *pinned;
  ncclComm_t comm;

  void step(int number) {
    CHECK(cudaStreamBeginCapture(compute, cudaStreamCaptureModeThreadLocal));
    work(number);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(compute, &graph));
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, compute));
    CHECK(cudaGraphLaunch(exec, compute));
  }

  void work(int number) {
    launch(compute, x, y);
    if (planted != "no_record")
      CHECK(cudaEventRecord(produced, compute));
    if (planted != "no_wait")
      CHECK(cudaStreamWaitEvent(communication, produced, 0));
    if (planted == "disagrees" && number == 1) {
      CHECK(ncclAllReduce(y, z, n / 2, ncclFloat, ncclSum, comm, communication));
    } else {
      CHECK(ncclAllReduce(y, z, n, ncclFloat, ncclSum, comm, communication));
    }
    CHECK(cudaEventRecord(reduced, communication));
    if (planted != "no_last_wait")
      CHECK(cudaStreamWaitEvent(compute, reduced, 0));
    launch(compute, z, x);
  }

  void run(int number, ncclUniqueId id) {
    CHECK(cudaSetDevice(number));
    for (auto *stream : {&compute, &communication, &copy})
      CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    for (auto *event : {&produced, &reduced, &copied, &ended})
      CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    for (auto *place : {&x, &y, &z})
      CHECK(cudaMalloc(place, n * sizeof(float)));
    CHECK(cudaHostAlloc(reinterpret_cast<void **>(&pinned), n * sizeof(float), 0));
    CHECK(ncclCommInitRank(&comm, 2, id, number));
    for (int steps = 0; steps < 2; ++steps) {
      if (steps && planted != "refilled_early")
        CHECK(cudaEventSynchronize(copied));
      for (int i = 0; i < n; ++i)
        pinned[i] = steps + number;
      CHECK(cudaStreamWaitEvent(copy, ended, 0));
      CHECK(cudaMemcpyAsync(x, pinned, n * sizeof(float), cudaMemcpyHostToDevice, copy));
      CHECK(cudaEventRecord(copied, copy));
      CHECK(cudaStreamWaitEvent(compute, copied, 0));
      asGraph ? step(number) : work(number);
      CHECK(cudaEventRecord(ended, compute));
    }
    float result;
    CHECK(cudaStreamSynchronize(compute));
    CHECK(cudaMemcpyAsync(&result, x, sizeof(float), cudaMemcpyDeviceToHost, compute));
    CHECK(cudaStreamSynchronize(compute));
    std::printf("rank %d: %g\n", number, result);
  }
};

} // namespace

int main(int argc, char **argv) {
  planted = argc > 1 ? argv[1] : "";
  asGraph = argc > 2;
  ncclUniqueId id;
  CHECK(ncclGetUniqueId(&id));
  Rank ranks[2];
  std::thread other([&] { ranks[1].run(1, id); });
  ranks[0].run(0, id);
  other.join();
}
