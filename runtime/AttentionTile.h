//===- AttentionTile.h - how attention on a CPU is cut in tiles -----------===//
//
// From its sizes and a core's cache: the compiler writes the tile into the code that it
// generates (runtime/cpu/Attention.h) and plans the scratch memory.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_ATTENTIONTILE_H
#define BRAID_ATTENTIONTILE_H

#include "CallWorkspace.h"

namespace braid {

// How generated code for a CPU computes attention (runtime/cpu/Attention.h): tiles of so many
// positions that those of the backward pass, seven of rows of a head and two of scores, take
// half of the cache at most; a multiple of the lanes of every CPU.
inline constexpr int64_t attentionTile(const AttentionSizes &sizes, int64_t cacheBytes) {
  constexpr int64_t lanes = 16;
  const int64_t width = roundUp(sizes.size, lanes);
  int64_t tile = roundUp(std::min<int64_t>(std::max(sizes.queries, sizes.keys), 96), lanes);
  while (tile > lanes && (7 * width + 2 * tile) * tile * 4 > cacheBytes / 2)
    tile -= lanes;
  return tile;
}

// Backward adds up dk and dv of a head of keys in f32, of several heads at once: as many as there
// may be threads, or fewer where that takes much memory.
inline constexpr int64_t attentionTileWorkspace(const AttentionSizes &sizes, int64_t cacheBytes) {
  constexpr int64_t fewThreads = 16, manyThreads = 64, muchBytes = 32 << 20;
  const int64_t heads = sizes.batch * sizes.keyHeads;
  const double head = 8.0 * static_cast<double>(roundUp(sizes.keys, attentionTile(sizes, cacheBytes))) *
                      static_cast<double>(roundUp(sizes.size, 16));
  const int64_t most = std::clamp(static_cast<int64_t>(muchBytes / head), fewThreads, manyThreads);
  // Each thread gets equally many of them.
  const int64_t turns = (heads + most - 1) / most;
  return wholeBytes(static_cast<double>((heads + turns - 1) / turns) * head);
}

} // namespace braid

#endif // BRAID_ATTENTIONTILE_H
