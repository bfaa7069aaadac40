//===- Allocations.cpp - memory of devices --------------------------------===//
#include "Allocations.h"

#include "Recorder.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <shared_mutex>
#include <sys/mman.h>
#include <vector>

using namespace shim;

namespace {

constexpr size_t pageBytes = 4096, guardBytes = 16 * pageBytes;

struct Table {
  std::shared_mutex mutex;
  std::map<const char *, std::unique_ptr<Allocation>> byBase;
  // Records of freed allocations stay: a thread may still look at the one it remembers.
  std::vector<std::unique_ptr<Allocation>> gone;
  std::map<int, size_t> bytes; // by device
  int count = 0;
};
Table &table() {
  static auto *all = new Table; // outlives everything
  return *all;
}
// Changes when an allocation is freed, which makes remembered allocations invalid.
std::atomic<uint64_t> generation{1};

Allocation *insert(std::unique_ptr<Allocation> allocation) {
  Table &all = table();
  allocation->id = all.count++;
  recordAllocation(*allocation);
  return (all.byBase[allocation->base] = std::move(allocation)).get();
}

void retire(std::unique_ptr<Allocation> &allocation) {
  if (allocation->owned)
    munmap(allocation->base - guardBytes, allocation->mapped);
  allocation->shadow.reset();
  table().gone.push_back(std::move(allocation));
  ++generation;
}

} // namespace

size_t shim::deviceMemory() {
  const char *text = std::getenv("BRAID_SHIM_MEMORY");
  return text ? std::strtoull(text, nullptr, 0) : size_t{80} << 30;
}

size_t shim::allocatedBytes(int device) {
  std::shared_lock lock(table().mutex);
  return table().bytes[device];
}

Allocation *shim::allocate(int device, size_t bytes) {
  std::unique_lock lock(table().mutex);
  size_t &used = table().bytes[device];
  if (device >= 0 && bytes > deviceMemory() - used)
    return nullptr;
  size_t body = (bytes + pageBytes - 1) / pageBytes * pageBytes, mapped = body + 2 * guardBytes;
  void *all = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED)
    return nullptr;
  char *base = static_cast<char *>(all) + guardBytes;
  if (mprotect(base, body, PROT_READ | PROT_WRITE))
    return nullptr;
  if (device >= 0)
    std::memset(base, 0xff, body);
  used += bytes;
  return insert(std::make_unique<Allocation>(
      Allocation{0, device, base, bytes, mapped, true, device >= 0 ? std::make_unique<Shadow>(bytes) : nullptr}));
}

Allocation *shim::adopt(void *pointer, size_t bytes) {
  std::unique_lock lock(table().mutex);
  return insert(
      std::make_unique<Allocation>(Allocation{0, -1, static_cast<char *>(pointer), bytes, bytes, false, nullptr}));
}

bool shim::release(void *pointer, bool device) {
  std::unique_lock lock(table().mutex);
  auto found = table().byBase.find(static_cast<char *>(pointer));
  if (found == table().byBase.end() || (found->second->device >= 0) != device)
    return false;
  table().bytes[found->second->device] -= found->second->bytes;
  retire(found->second);
  table().byBase.erase(found);
  return true;
}

void shim::releaseDevice(int device) {
  std::unique_lock lock(table().mutex);
  for (auto next = table().byBase.begin(); next != table().byBase.end();) {
    if (next->second->device == device) {
      retire(next->second);
      next = table().byBase.erase(next);
    } else {
      ++next;
    }
  }
  table().bytes[device] = 0;
}

Allocation *shim::findAllocation(const void *pointer) {
  thread_local Allocation *last = nullptr;
  thread_local uint64_t lastGeneration = 0;
  if (last && lastGeneration == generation.load(std::memory_order_acquire) && last->holds(pointer, 1))
    return last;
  std::shared_lock lock(table().mutex);
  auto after = table().byBase.upper_bound(static_cast<const char *>(pointer));
  if (after == table().byBase.begin())
    return nullptr;
  Allocation *found = std::prev(after)->second.get();
  if (!found->holds(pointer, 1))
    return nullptr;
  last = found;
  lastGeneration = generation.load(std::memory_order_acquire);
  return found;
}

Allocation *shim::nearestAllocation(const void *pointer) {
  std::shared_lock lock(table().mutex);
  Allocation *best = nullptr;
  size_t bestDistance = SIZE_MAX;
  for (auto &[base, allocation] : table().byBase) {
    auto *p = static_cast<const char *>(pointer);
    size_t distance = p < base ? base - p : p - base - allocation->bytes;
    if (allocation->device >= 0 && distance < bestDistance) {
      best = allocation.get();
      bestDistance = distance;
    }
  }
  return best;
}
