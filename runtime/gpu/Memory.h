//===- Memory.h - memory of the device and pinned memory ------------------===//
#ifndef BRAID_GPU_MEMORY_H
#define BRAID_GPU_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace braid {

// Allocates and frees device memory.
struct DeviceAllocator {
  const char *name;
  // Returns the error message of the call, or "" if it succeeded.
  std::string (*allocate)(void **memory, uint64_t bytes);
  void (*free)(void *memory);
};
// The vendor's usual allocator, such as cudaMalloc.
extern const DeviceAllocator usualAllocator;

// Pinned host memory, zeroed, which the device copies from and to.  Throws Error.
class PinnedMemory {
public:
  // `purpose` follows the name of the call in errors.
  explicit PinnedMemory(size_t bytes, const char *purpose = "");
  ~PinnedMemory();
  PinnedMemory(PinnedMemory &&other) noexcept : base(other.base) { other.base = nullptr; }
  PinnedMemory(const PinnedMemory &) = delete;
  PinnedMemory &operator=(const PinnedMemory &) = delete;

  std::byte *data() const { return base; }

private:
  std::byte *base = nullptr;
};

} // namespace braid
#endif // BRAID_GPU_MEMORY_H
