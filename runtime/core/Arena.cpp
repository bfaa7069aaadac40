//===- Arena.cpp - the single allocation of a training job ----------------===//

#include "core/Arena.h"
#include "base/Error.h"
#include "base/Format.h"
#include "host/Threads.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <sys/mman.h>

using namespace braid;

namespace {

uint64_t availableByMeminfo() {
  std::ifstream file("/proc/meminfo");
  std::string key, rest;
  uint64_t kib;
  while (file >> key >> kib) {
    if (key == "MemAvailable:")
      return kib * 1024;
    std::getline(file, rest);
  }
  return UINT64_MAX;
}

uint64_t availableByControlGroup() {
  std::ifstream maxFile("/sys/fs/cgroup/memory.max");
  std::ifstream currentFile("/sys/fs/cgroup/memory.current");
  uint64_t max, current;
  if (!(maxFile >> max) || !(currentFile >> current)) // "max" means no limit, and is not a number
    return UINT64_MAX;
  return max > current ? max - current : 0;
}

} // namespace

uint64_t braid::availableMemory() { return std::min(availableByMeminfo(), availableByControlGroup()); }

Arena::Arena(uint64_t bytes, int threads) : bytes(bytes) {
  if (bytes == 0)
    return;
  uint64_t available = availableMemory();
  if (bytes > available)
    fail("the plan needs an arena of ", formatBytes(bytes), " but only ", formatBytes(available),
         " of memory are available", kSmallerArena);
  void *block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED)
    fail("cannot allocate the arena of ", formatBytes(bytes), ": ", std::strerror(errno), kSmallerArena);
  base = static_cast<std::byte *>(block);
  madvise(base, bytes, MADV_HUGEPAGE); // a hint; may fail

  constexpr uint64_t page = 4096;
  int64_t pages = static_cast<int64_t>((bytes + page - 1) / page);
  parallelRanges(threads, pages, [&](int, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      *reinterpret_cast<volatile std::byte *>(base + i * page) = std::byte{0};
  });
}

Arena::~Arena() {
  if (base)
    munmap(base, bytes);
}
