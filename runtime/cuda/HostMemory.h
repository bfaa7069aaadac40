//===- HostMemory.h - pinned memory beside the arena ----------------------===//
//
// Memory for tensors that the plan keeps on the host: exactly the plan's bytes, pinned and zeroed,
// from one cudaMallocHost.  Programs copy between it and the arena on two streams, one for each
// direction.  A start records an event on the compute stream, makes the copy stream wait for it, and
// queues the copies and a second event.  A wait makes the compute stream wait for the second event.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_HOSTMEMORY_H
#define BRAID_CUDA_HOSTMEMORY_H

#include "braid_rt.h"
#include "cuda/Check.h"
#include "cuda/PinnedSlots.h"
#include "cuda/Streams.h"

#include <vector>

namespace braid {

class HostMemory {
public:
  HostMemory(const br_model &model, std::byte *arena, cudaStream_t compute);
  // Waits for copies in flight.
  ~HostMemory();
  HostMemory(const HostMemory &) = delete;
  HostMemory &operator=(const HostMemory &) = delete;

  std::byte *data() const { return memory.data(); }

  void start(int32_t transfer, ProgramErrors &errors);
  void wait(int32_t transfer, ProgramErrors &errors);

private:
  struct Events {
    Event begin = Event(), end = Event();
  };
  cudaStream_t streamOf(const br_transfer_desc &transfer) const { return transfer.to_host ? toHost : fromHost; }

  const br_model &model;
  std::byte *arena;
  cudaStream_t compute;
  PinnedMemory memory;
  Stream fromHost, toHost;
  std::vector<Events> events; // one pair for each transfer
};

} // namespace braid
#endif // BRAID_CUDA_HOSTMEMORY_H
