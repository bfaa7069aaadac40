//===- HostMemory.cpp - pinned memory beside the arena --------------------===//

#include "cuda/HostMemory.h"

#include "base/Error.h"
#include "base/Format.h"

using namespace braid;

// Allocates pinned memory, and names its purpose in errors: it is often limited (ulimit -l,
// cgroups).
static PinnedMemory allocate(uint64_t bytes) {
  try {
    return PinnedMemory(bytes);
  } catch (const Error &error) {
    fail("cannot pin ", formatBytes(bytes), " of the host's memory for offloaded tensors (--offload): ", error.what());
  }
}

HostMemory::HostMemory(const br_model &model, std::byte *arena, cudaStream_t compute)
    : model(model), arena(arena), compute(compute), memory(allocate(model.host_bytes)), events(model.n_transfers) {}

HostMemory::~HostMemory() {
  cudaStreamSynchronize(fromHost);
  cudaStreamSynchronize(toHost);
}

void HostMemory::start(int32_t index, ProgramErrors &errors) {
  const br_transfer_desc &transfer = model.transfers[index];
  const cudaStream_t stream = streamOf(transfer);
  errors.note(cudaEventRecord(events[index].begin, compute), "cudaEventRecord");
  errors.note(cudaStreamWaitEvent(stream, events[index].begin, 0), "cudaStreamWaitEvent");
  for (int32_t i = 0; i < transfer.n_parts; ++i) {
    const br_transfer_part &part = transfer.parts[i];
    std::byte *onDevice = arena + part.device, *onHost = memory.data() + part.host;
    if (transfer.to_host)
      errors.note(cudaMemcpyAsync(onHost, onDevice, part.bytes, cudaMemcpyDeviceToHost, stream),
                  "cudaMemcpyAsync to the host");
    else
      errors.note(cudaMemcpyAsync(onDevice, onHost, part.bytes, cudaMemcpyHostToDevice, stream),
                  "cudaMemcpyAsync from the host");
  }
  errors.note(cudaEventRecord(events[index].end, stream), "cudaEventRecord");
}

void HostMemory::wait(int32_t index, ProgramErrors &errors) {
  errors.note(cudaStreamWaitEvent(compute, events[index].end, 0), "cudaStreamWaitEvent");
}
