//===- DeviceArena.h - the one allocation on the device -------------------===//
//
// As core/Arena: exactly the bytes of the plan, zeroed, from one cudaMalloc or, where NCCL may
// be what ranks talk over, one ncclMemAlloc, whose memory all of NCCL's algorithms can reach from
// other GPUs once it is registered (NVLink SHARP among them).  NCCL maps whole granules: what
// it takes beyond the plan is said.  What CUDA and its libraries take beside it is not part of
// the plan, and is measured.
//
// Nothing depends on the zeros, which only make runs alike whatever is wrong with them.
// Where BRAID_ARENA_UNSET is in the environment memory is left as it was, so that tools that
// look for reads of what nobody wrote (compute-sanitizer's initcheck, test/cuda/shim) see them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_DEVICEARENA_H
#define BRAID_CUDA_DEVICEARENA_H

#include "cuda/Device.h"

#include <cstddef>
#include <cuda_runtime_api.h>

namespace braid {

// Who gives the memory of a device, and takes it back.
struct DeviceAllocator {
  const char *name;
  // The call's error; empty for none.
  std::string (*allocate)(void **memory, uint64_t bytes);
  void (*free)(void *memory);
};
extern const DeviceAllocator allocatorOfCuda;

class DeviceArena {
public:
  // Throws Error when the device has not that much memory to give.
  DeviceArena(const Device &device, uint64_t bytes, cudaStream_t stream,
              const DeviceAllocator &allocator = allocatorOfCuda);
  ~DeviceArena();
  DeviceArena(const DeviceArena &) = delete;
  DeviceArena &operator=(const DeviceArena &) = delete;

  std::byte *data() const { return base; }

  // "beside the arena: 480 MiB of CUDA's context and of other programs, 96 MiB of libraries",
  // once all of these are there.
  std::string describeRest() const;
  // Who gave it and what that took beyond the plan; empty for cudaMalloc.
  std::string describeAllocator() const;
  // What to say when little is left for what libraries take later, with the first
  // program that runs; empty when there is enough.
  std::string warnOfRest() const;

private:
  const DeviceAllocator allocator;
  const uint64_t bytes;
  std::byte *base = nullptr;
  DeviceMemory before, after; // the allocation
};

} // namespace braid
#endif // BRAID_CUDA_DEVICEARENA_H
