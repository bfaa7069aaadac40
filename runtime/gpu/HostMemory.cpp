//===- HostMemory.cpp - pinned memory beside the arena --------------------===//

#include "gpu/HostMemory.h"

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

HostMemory::HostMemory(const br_model &model, std::byte *arena, const GpuStream &compute)
    : model(model), arena(arena), compute(compute), memory(allocate(model.host_bytes)), events(model.n_transfers) {}

HostMemory::~HostMemory() {
  (void)fromHost.synchronize();
  (void)toHost.synchronize();
}

void HostMemory::start(int32_t index, ProgramErrors &errors) {
  const br_transfer_desc &transfer = model.transfers[index];
  const GpuStream &stream = streamOf(transfer);
  errors.note(events[index].begin.record(compute));
  errors.note(stream.wait(events[index].begin));
  for (int32_t i = 0; i < transfer.n_parts; ++i) {
    const br_transfer_part &part = transfer.parts[i];
    std::byte *onDevice = arena + part.device, *onHost = memory.data() + part.host;
    if (transfer.to_host)
      errors.note(stream.copyToHost(onHost, onDevice, part.bytes), " to the host");
    else
      errors.note(stream.copyToDevice(onDevice, onHost, part.bytes), " from the host");
  }
  errors.note(events[index].end.record(stream));
}

void HostMemory::wait(int32_t index, ProgramErrors &errors) { errors.note(compute.wait(events[index].end)); }
