// NCCL with one rank on one GPU: a communicator, registered memory, and each collective that training
// programs use, at once and captured in a CUDA graph:
//   nccl_alone COUNT
// prints a line as soon as something has worked, and ends at the first thing that does not.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <functional>
#include <nccl.h>
#include <vector>

namespace {

void require(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

void require(ncclResult_t result, const char *what) {
  if (result == ncclSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", what, ncclGetErrorString(result));
  std::exit(1);
}

#define REQUIRE(call) require(call, #call)

void say(const char *what, const char *how = "") {
  std::printf("ok %s%s\n", what, how);
  std::fflush(stdout);
}

/// Two buffers of floats, of which collectives read the first and write the second.  With
/// one rank they all copy.
struct Buffers {
  explicit Buffers(size_t count) : values(count) {
    for (size_t i = 0; i < count; ++i)
      values[i] = static_cast<float>(i % 1021) - 510;
    REQUIRE(cudaMalloc(reinterpret_cast<void **>(&from), bytes()));
    REQUIRE(cudaMalloc(reinterpret_cast<void **>(&to), bytes()));
    REQUIRE(cudaMemcpy(from, values.data(), bytes(), cudaMemcpyHostToDevice));
  }
  size_t bytes() const { return values.size() * sizeof(float); }

  void clear(cudaStream_t stream) { REQUIRE(cudaMemsetAsync(to, 0, bytes(), stream)); }

  void check(const char *what, cudaStream_t stream) {
    std::vector<float> found(values.size());
    REQUIRE(cudaStreamSynchronize(stream));
    REQUIRE(cudaMemcpy(found.data(), to, bytes(), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < values.size(); ++i)
      if (found[i] != values[i]) {
        std::fprintf(stderr, "%s: element %zu is %g and must be %g\n", what, i, found[i], values[i]);
        std::exit(1);
      }
  }

  std::vector<float> values;
  float *from, *to;
};

struct Collective {
  const char *name;
  std::function<ncclResult_t()> call;
};

std::vector<Collective> collectivesOf(Buffers &b, ncclComm_t comm, cudaStream_t stream) {
  const size_t n = b.values.size();
  return {
      {"all_reduce", [=, &b] { return ncclAllReduce(b.from, b.to, n, ncclFloat, ncclSum, comm, stream); }},
      {"all_reduce_max", [=, &b] { return ncclAllReduce(b.from, b.to, n, ncclFloat, ncclMax, comm, stream); }},
      {"reduce_scatter", [=, &b] { return ncclReduceScatter(b.from, b.to, n, ncclFloat, ncclSum, comm, stream); }},
      {"all_gather", [=, &b] { return ncclAllGather(b.from, b.to, n, ncclFloat, comm, stream); }},
      // The same bits, as pairs of bf16.
      {"all_gather_bf16", [=, &b] { return ncclAllGather(b.from, b.to, 2 * n, ncclBfloat16, comm, stream); }},
      {"reduce", [=, &b] { return ncclReduce(b.from, b.to, n, ncclFloat, ncclSum, 0, comm, stream); }},
      {"broadcast", [=, &b] { return ncclBroadcast(b.from, b.to, n, ncclFloat, 0, comm, stream); }},
      {"send_recv",
       [=, &b] {
         REQUIRE(ncclGroupStart());
         REQUIRE(ncclSend(b.from, n, ncclFloat, 0, comm, stream));
         REQUIRE(ncclRecv(b.to, n, ncclFloat, 0, comm, stream));
         return ncclGroupEnd();
       }},
  };
}

void runAtOnce(const Collective &collective, Buffers &buffers, cudaStream_t stream) {
  buffers.clear(stream);
  require(collective.call(), collective.name);
  buffers.check(collective.name, stream);
  say(collective.name);
}

/// Twice, as steps of a training program launch it.
void runCaptured(const Collective &collective, Buffers &buffers, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  require(collective.call(), collective.name);
  REQUIRE(cudaStreamEndCapture(stream, &graph));
  REQUIRE(cudaGraphInstantiate(&ready, graph, 0));
  for (int run = 0; run < 2; ++run) {
    buffers.clear(stream);
    REQUIRE(cudaGraphLaunch(ready, stream));
    buffers.check(collective.name, stream);
  }
  REQUIRE(cudaGraphExecDestroy(ready));
  REQUIRE(cudaGraphDestroy(graph));
  say(collective.name, " captured");
}

} // namespace

int main(int argc, char **argv) {
  const size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (count == 0) {
    std::fprintf(stderr, "usage: nccl_alone COUNT\n");
    return 2;
  }
  int version;
  ncclUniqueId id;
  ncclComm_t comm;
  cudaStream_t stream;
  REQUIRE(ncclGetVersion(&version));
  std::printf("NCCL %d\n", version);
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Buffers buffers(count);
  REQUIRE(ncclGetUniqueId(&id));
  REQUIRE(ncclCommInitRank(&comm, 1, id, 0));
  say("init");
  void *handles[2];
  REQUIRE(ncclCommRegister(comm, buffers.from, buffers.bytes(), &handles[0]));
  REQUIRE(ncclCommRegister(comm, buffers.to, buffers.bytes(), &handles[1]));
  say("register");
  for (const Collective &collective : collectivesOf(buffers, comm, stream)) {
    runAtOnce(collective, buffers, stream);
    runCaptured(collective, buffers, stream);
  }
  for (void *handle : handles)
    REQUIRE(ncclCommDeregister(comm, handle));
  REQUIRE(ncclCommFinalize(comm));
  REQUIRE(ncclCommDestroy(comm));
  say("finalize");
  return 0;
}
