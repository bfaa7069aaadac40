//===- Arena.h - the single allocation of a training job ------------------===//
//
// All tensors live at offsets that the compiler chose, in one block of zeroed memory.  The block is
// allocated once, page aligned.  Every page is touched at once, in parallel, so that the resident
// size never changes afterwards.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_ARENA_H
#define BRAID_CORE_ARENA_H

#include <cstddef>
#include <cstdint>

namespace braid {

// Advice when the arena does not fit, and when memory outside the arena runs out.
inline constexpr const char *kSmallerArena =
    "; compile for a smaller batch, more microbatches (--accumulate) or a lower --memory-limit, which recomputes "
    "values and chunks the loss, or shard the model over more ranks";
inline constexpr const char *kMoreMemory =
    "out of memory outside the arena, where data, checkpoints and libraries are; free memory of this machine, raise "
    "the limit of this process (ulimit -v, or its control group), or run fewer ranks here";

class Arena {
public:
  // Throws Error if the machine does not have that much memory available.
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

// Returns the bytes that this process may still allocate, by /proc/meminfo and its control group;
// UINT64_MAX if neither can be read.
uint64_t availableMemory();

} // namespace braid
#endif // BRAID_CORE_ARENA_H
