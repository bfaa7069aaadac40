//===- Arena.h - the one allocation of a training job ---------------------===//
//
// All tensors live at offsets the compiler chose inside one block of zeroed
// memory.  It is allocated once, page aligned, and every page is touched at
// once, in parallel, so that the resident size never changes afterwards.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_ARENA_H
#define BRAID_CORE_ARENA_H

#include <cstddef>
#include <cstdint>

namespace braid {

// What to try where there is no room for the arena, and where there is none beside it.
inline constexpr const char *kSmallerArena =
    "; compile for a smaller batch, more microbatches (--accumulate) or a lower --memory-limit, which recomputes and "
    "cuts the loss into chunks, or let more ranks share it";
inline constexpr const char *kMoreMemory =
    "out of memory outside the arena, where data, checkpoints and libraries are; free memory of this machine, raise "
    "the limit of this process (ulimit -v, or its control group), or run fewer ranks here";

class Arena {
public:
  // Throws Error when the machine has not that much memory to give.
  Arena(uint64_t bytes, int threads);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  std::byte *data() const { return base; }
  uint64_t size() const { return bytes; }

private:
  std::byte *base = nullptr;
  uint64_t bytes = 0;
};

// What this process may still take, by /proc/meminfo and its control group;
// UINT64_MAX when neither can be read.
uint64_t availableMemory();

} // namespace braid
#endif // BRAID_CORE_ARENA_H
