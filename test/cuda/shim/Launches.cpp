//===- Launches.cpp - kernels on streams ----------------------------------===//
#include "Block.h"
#include "Failures.h"
#include "KernelNames.h"
#include "Queues.h"
#include "Violation.h"

#include <cstring>

using namespace shim;

namespace {

// Returns whether the kernel may begin before the work in front of it on the stream has ended.
bool mayBeginEarly(const cudaLaunchConfig_t &config) {
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (config.attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization)
      return config.attrs[i].val.programmaticStreamSerializationAllowed;
  return false;
}

void writeLaunch(const Issue &issue, const char *kernel, dim3 blocks, dim3 threads, bool beginsEarly, const Ran &ran) {
  Line line(issue, "launch");
  line.field("kernel", std::string(kernel)).field("blocks", blocks.x).field("threads", threads.x);
  if (beginsEarly)
    line.field("begins", std::string("early"));
  std::vector<std::pair<const void *, size_t>> reads, writes;
  for (Allocation *allocation : ran.touched) {
    Ranges read, written;
    allocation->shadow->accessed(ran.launch, read, written);
    for (auto [begin, end] : read)
      reads.emplace_back(allocation->base + begin, end - begin);
    for (auto [begin, end] : written)
      writes.emplace_back(allocation->base + begin, end - begin);
  }
  line.pieces("reads", reads).pieces("writes", writes).write(issue.owner);
}

} // namespace

cudaError_t shim::launch(const cudaLaunchConfig_t &config, const void *kernel, size_t argumentBytes, const Call &call) {
  if (cudaError_t error = failureOf("cudaLaunchKernelEx"))
    return error;
  dim3 blocks = config.gridDim, threads = config.blockDim;
  // Limits of every GPU. The shim cannot run a block with dynamic shared memory or with several dims.
  if (!blocks.x || blocks.x > 0x7fffffff || !threads.x || threads.x > 1024 || argumentBytes > 32764)
    return noteError(cudaErrorInvalidConfiguration);
  if (blocks.y != 1 || blocks.z != 1 || threads.y != 1 || threads.z != 1 || config.dynamicSmemBytes)
    return noteError(cudaErrorNotSupported);
  const char *name = kernelName(kernel);
  const bool beginsEarly = mayBeginEarly(config);
  std::shared_ptr<char[]> values(new char[call.bytes]); // aligned for all types
  std::memcpy(values.get(), call.values, call.bytes);
  auto thread = [values, run = call.run] { run(values.get()); };
  auto run = [=](const Issue &issue) {
    std::string action = issue.action.index < 0 ? "" : std::to_string(issue.action.index);
    launchName = {name, action.empty() ? nullptr : action.c_str()};
    Ran ran = runBlocks(blocks, threads, thread, beginsEarly);
    launchName = {};
    if (tracing())
      writeLaunch(issue, name, blocks, threads, beginsEarly, ran);
  };
  return issue(config.stream, [run] { return Work{nullptr, run, {}}; });
}

// Every kernel is loaded on every device.
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *) {
  if (cudaError_t error = failureOf("cudaFuncGetAttributes"))
    return error;
  const char *version = std::getenv("BRAID_SHIM_PTX");
  *attributes = {};
  attributes->binaryVersion = 90;
  attributes->ptxVersion = version ? std::atoi(version) : 90;
  return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char **name, const void *function) {
  *name = kernelName(function);
  return cudaSuccess;
}
