//===- DeviceArena.h - the one allocation on the device -------------------===//
//
// As core/Arena: exactly the bytes of the plan, zeroed, from one cudaMalloc.  What CUDA
// and its libraries take beside it is not part of the plan, and is measured.
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

class DeviceArena {
public:
  // Throws Error when the device has not that much memory to give.
  DeviceArena(const Device &device, uint64_t bytes, cudaStream_t stream);
  ~DeviceArena();
  DeviceArena(const DeviceArena &) = delete;
  DeviceArena &operator=(const DeviceArena &) = delete;

  std::byte *data() const { return base; }

  // "beside the arena: 480 MiB of CUDA's context and of other programs, 96 MiB of libraries",
  // once all of these are there.
  std::string describeRest() const;
  // What to say when little is left for what libraries take later, with the first
  // program that runs; empty when there is enough.
  std::string warnOfRest() const;

private:
  std::byte *base = nullptr;
  DeviceMemory before, after; // the allocation
};

} // namespace braid
#endif // BRAID_CUDA_DEVICEARENA_H
