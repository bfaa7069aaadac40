//===- Allocations.h - memory of devices, and pinned memory of the host ---===//
//
// Every allocation has inaccessible pages around it, and is filled with NaN, so that reads before writes give NaN.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_ALLOCATIONS_H
#define BRAID_SHIM_ALLOCATIONS_H

#include "Shadow.h"

#include <memory>
#include <mutex>

namespace shim {

struct Allocation {
  int id, device; // device -1: pinned memory of the host
  char *base;
  size_t bytes, mapped;
  bool owned; // false: registered
  std::unique_ptr<Shadow> shadow;

  bool holds(const void *pointer, size_t count) const {
    size_t offset = static_cast<const char *>(pointer) - base;
    return offset <= bytes && count <= bytes - offset;
  }
};

// Returns null if the device's memory is exhausted.
Allocation *allocate(int device, size_t bytes);
Allocation *adopt(void *pointer, size_t bytes);
// Returns whether there was such an allocation.
bool release(void *pointer, bool device);
void releaseDevice(int device);

// Returns the allocation with this byte, or null.
Allocation *findAllocation(const void *pointer);
// Returns the allocation whose end is nearest below or whose start is nearest above, for messages.
Allocation *nearestAllocation(const void *pointer);

size_t deviceMemory();
size_t allocatedBytes(int device);

} // namespace shim
#endif // BRAID_SHIM_ALLOCATIONS_H
