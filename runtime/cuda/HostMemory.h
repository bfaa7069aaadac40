//===- HostMemory.h - pinned memory beside the arena ----------------------===//
//
// Tensors that the plan keeps in the host's memory: exactly its bytes, pinned and zeroed, from one
// cudaMallocHost.  Between it and the arena programs copy on two streams, one for each direction.
// A start is an event on the compute stream that the copying stream waits for, the copies, and an
// event; a wait is that the compute stream waits for this one.
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
  // After what is under way.
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
  std::vector<Events> events; // of each transfer
};

} // namespace braid
#endif // BRAID_CUDA_HOSTMEMORY_H
