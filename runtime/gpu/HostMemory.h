//===- HostMemory.h - pinned memory beside the arena ----------------------===//
//
// Memory for tensors that the plan keeps on the host: exactly the plan's bytes, pinned and zeroed,
// in one allocation.  Programs copy between it and the arena on two streams, one for each
// direction.  A start records an event on the compute stream, makes the copy stream wait for it, and
// queues the copies and a second event.  A wait makes the compute stream wait for the second event.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_HOSTMEMORY_H
#define BRAID_GPU_HOSTMEMORY_H

#include "braid_rt.h"
#include "gpu/Memory.h"
#include "gpu/Streams.h"

#include <vector>

namespace braid {

class HostMemory {
public:
  HostMemory(const br_model &model, std::byte *arena, const GpuStream &compute);
  // Waits for copies in flight.
  ~HostMemory();
  HostMemory(const HostMemory &) = delete;
  HostMemory &operator=(const HostMemory &) = delete;

  std::byte *data() const { return memory.data(); }

  void start(int32_t transfer, ProgramErrors &errors);
  void wait(int32_t transfer, ProgramErrors &errors);

private:
  struct Events {
    GpuEvent begin = GpuEvent(), end = GpuEvent();
  };
  const GpuStream &streamOf(const br_transfer_desc &transfer) const { return transfer.to_host ? toHost : fromHost; }

  const br_model &model;
  std::byte *arena;
  const GpuStream &compute;
  PinnedMemory memory;
  GpuStream fromHost, toHost;
  std::vector<Events> events; // one pair for each transfer
};

} // namespace braid
#endif // BRAID_GPU_HOSTMEMORY_H
