//===- MatmulScratch.h - operands of matmuls that are only timed ----------===//
//
// A search times matmuls before anything is in the arena, so their operands may lie
// anywhere in it: beside each other, and outside the matmul's workspace, in which some
// algorithms count.  A plan has room for them wherever the program's own operands lie
// in buffers of their own; two that are read may be slices of one, and then share a place.
//
// They hold numbers of about 1: multiplying zeros takes less power, at higher clocks.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_MATMULSCRATCH_H
#define BRAID_CUDA_MATMULSCRATCH_H

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace braid {

// Bytes [begin, end) of the arena.
struct ArenaRange {
  uint64_t begin, end;
};

// Begins of pieces of so many bytes, aligned as buffers are, none of which overlaps another or
// `taken`.  None if there is no such room.
std::optional<std::vector<uint64_t>> placePieces(const std::vector<uint64_t> &bytes, ArenaRange taken,
                                                 uint64_t arenaBytes);

class MatmulScratch {
public:
  // Overwrites what is in the arena.
  MatmulScratch(std::byte *arena, uint64_t bytes, cudaStream_t stream);

  // Where operands of a matmul lie, the first two of which are only read, filled with
  // numbers; by their order.  Empty where there is no room.
  std::vector<std::byte *> place(const std::vector<uint64_t> &bytes, ArenaRange workspace);

  // Makes the arena what it was when it was allocated: all zeros.
  void clear();

private:
  void fill(uint64_t begin, uint64_t bytes);

  std::byte *arena;
  uint64_t arenaBytes;
  cudaStream_t stream;
  std::vector<uint16_t> noise;
};

} // namespace braid
#endif // BRAID_CUDA_MATMULSCRATCH_H
