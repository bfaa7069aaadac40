//===- DeviceArena.h - the single allocation on a device ------------------===//
//
// The arena, as in core/Arena: exactly the bytes of the plan, zeroed, in one allocation.  The
// allocation is a cudaMalloc, or an ncclMemAlloc where NCCL may be the transport: all NCCL
// algorithms (among them NVLink SHARP) can reach such memory from other GPUs once it is registered.
// NCCL maps whole granules, and the start message tells the bytes beyond the plan.  Memory that the
// vendor's libraries allocate is not part of the plan; it is measured.
//
// No result depends on the zeros; they only make runs reproducible in spite of bugs.  If
// BRAID_ARENA_UNSET is in the environment, the memory is not zeroed.  Then tools can find reads of
// uninitialized memory (compute-sanitizer's initcheck, test/cuda/shim).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_DEVICEARENA_H
#define BRAID_GPU_DEVICEARENA_H

#include "gpu/Device.h"
#include "gpu/Memory.h"
#include "gpu/Streams.h"

namespace braid {

class DeviceArena {
public:
  // Throws Error if the device does not have that much free memory.
  DeviceArena(const Device &device, uint64_t bytes, const GpuStream &stream,
              const DeviceAllocator &allocator = usualAllocator);
  ~DeviceArena();
  DeviceArena(const DeviceArena &) = delete;
  DeviceArena &operator=(const DeviceArena &) = delete;

  std::byte *data() const { return base; }

  // Returns "beside the arena: 480 MiB of CUDA's context and of other programs, 96 MiB of libraries".  Call
  // it after these are loaded.
  std::string describeRest() const;
  // Names the allocator and its bytes beyond the plan; empty for the usual one.
  std::string describeAllocator() const;
  // Warns if little memory is left for libraries, which allocate during the first program; empty if
  // there is enough.
  std::string warnOfRest() const;

private:
  const DeviceAllocator allocator;
  const uint64_t bytes;
  std::byte *base = nullptr;
  DeviceMemory before, after; // device memory before and after the allocation
};

} // namespace braid
#endif // BRAID_GPU_DEVICEARENA_H
