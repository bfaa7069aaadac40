//===- MatmulScratch.h - operands for timing matmuls ----------------------===//
//
// A search times matmuls before the arena is in use, so their operands may lie anywhere in it:
// beside each other, and outside the matmul's workspace, where some algorithms keep counters.
// There is room if the program's own operands lie in separate buffers.  Two read operands may be
// slices of one buffer; then they share a place.
//
// Operands hold numbers of about 1: multiplying zeros takes less power, at higher clocks.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_MATMULSCRATCH_H
#define BRAID_GPU_MATMULSCRATCH_H

#include "gpu/Streams.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace braid {

// Bytes [begin, end) of the arena.
struct ArenaRange {
  uint64_t begin, end;
};

// Returns the first bytes of pieces with these sizes, aligned like buffers, without overlap with
// each other or with `taken`.  Returns nullopt if they do not fit.
std::optional<std::vector<uint64_t>> placePieces(const std::vector<uint64_t> &bytes, ArenaRange taken,
                                                 uint64_t arenaBytes);

class MatmulScratch {
public:
  // Overwrites the arena.
  MatmulScratch(std::byte *arena, uint64_t bytes, const GpuStream &stream);

  // Returns the addresses of a matmul's operands, in order, filled with numbers; the first two are
  // read only.  Returns an empty list if there is no room.
  std::vector<std::byte *> place(const std::vector<uint64_t> &bytes, ArenaRange workspace);

  // Sets the arena to zeros, its state after allocation.
  void clear();

private:
  void fill(uint64_t begin, uint64_t bytes);

  std::byte *arena;
  uint64_t arenaBytes;
  const GpuStream &stream;
  std::vector<uint16_t> noise;
};

} // namespace braid
#endif // BRAID_GPU_MATMULSCRATCH_H
