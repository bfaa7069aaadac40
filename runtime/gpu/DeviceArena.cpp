//===- DeviceArena.cpp - the single allocation on a device ----------------===//

#include "gpu/DeviceArena.h"

#include "base/Error.h"
#include "base/Format.h"
#include "core/Arena.h"
#include "gpu/Vendor.h"

#include <cstdlib>

using namespace braid;

DeviceArena::DeviceArena(const Device &device, uint64_t bytes, const GpuStream &stream,
                         const DeviceAllocator &allocator)
    : allocator(allocator), bytes(bytes), before(memoryOfDevice()), after(before) {
  if (bytes == 0)
    return;
  if (bytes > before.free)
    fail("the plan needs an arena of ", formatBytes(bytes), " but only ", formatBytes(before.free), " of the ",
         formatBytes(before.total), " of ", device.describe(), " are free", kSmallerArena);
  void *block = nullptr;
  if (const std::string problem = allocator.allocate(&block, bytes); !problem.empty())
    fail("cannot allocate the arena of ", formatBytes(bytes), " on ", device.describe(), ": ", allocator.name, ": ",
         problem, kSmallerArena);
  base = static_cast<std::byte *>(block);
  try {
    if (!std::getenv("BRAID_ARENA_UNSET"))
      stream.fillZeros(base, bytes).check();
    stream.synchronize().check();
    after = memoryOfDevice();
  } catch (...) {
    allocator.free(base);
    throw;
  }
}

DeviceArena::~DeviceArena() {
  if (base)
    allocator.free(base);
}

std::string DeviceArena::describeAllocator() const {
  if (allocator.free == usualAllocator.free)
    return "";
  const uint64_t taken = before.free > after.free ? before.free - after.free : 0;
  return concat("the arena is memory of ", allocator.name, ", which took ",
                formatBytes(taken > bytes ? taken - bytes : 0), " beyond the plan for whole granules");
}

// Communicators, modules and attention kernels allocate at their first use, and graphs have nodes
// on the device.  How much is not documented; less free memory than this, in bytes, causes a
// warning.
static constexpr uint64_t libraryBytes = uint64_t{1} << 30;

std::string DeviceArena::warnOfRest() const {
  const uint64_t now = memoryOfDevice().free;
  if (now >= libraryBytes)
    return "";
  return concat("only ", formatBytes(now), " are free beside the arena for allocations of ", vendor.collectives, ", ",
                vendor.attention, " and ", vendor.runtime,
                " graphs in the first step; if the first step fails, compile with a lower --memory-limit");
}

std::string DeviceArena::describeRest() const {
  const uint64_t now = memoryOfDevice().free;
  return concat("beside the arena: ", formatBytes(before.total - before.free), " of ", vendor.runtime,
                "'s context and of other programs, ", formatBytes(after.free > now ? after.free - now : 0),
                " of libraries");
}
