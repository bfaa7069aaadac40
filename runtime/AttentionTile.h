//===- AttentionTile.h - tile size of attention on a CPU ------------------===//
//
// The tile size follows from attention's sizes and a core's cache.  The compiler writes it into the
// code that it generates (runtime/cpu/Attention.h), and plans the scratch memory with it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_ATTENTIONTILE_H
#define BRAID_ATTENTIONTILE_H

#include "CallWorkspace.h"

namespace braid {

// Positions of a tile in generated CPU attention (runtime/cpu/Attention.h).  The backward pass
// keeps seven tiles of head rows and two of scores, which may fill at most half of the cache.  The
// result is a multiple of the lanes of every CPU.
inline constexpr int64_t attentionTile(const AttentionSizes &sizes, int64_t cacheBytes) {
  constexpr int64_t lanes = 16;
  const int64_t width = roundUp(sizes.size, lanes);
  int64_t tile = roundUp(std::min<int64_t>(std::max(sizes.queries, sizes.keys), 96), lanes);
  while (tile > lanes && (7 * width + 2 * tile) * tile * 4 > cacheBytes / 2)
    tile -= lanes;
  return tile;
}

// Bytes of scratch memory: backward accumulates dk and dv in f32 for several key heads at once.
// Allows for up to 64 threads, or for fewer (at least 16) if that would take much memory.
inline constexpr int64_t attentionTileWorkspace(const AttentionSizes &sizes, int64_t cacheBytes) {
  constexpr int64_t fewThreads = 16, manyThreads = 64, muchBytes = 32 << 20;
  const int64_t heads = sizes.batch * sizes.keyHeads;
  const double head = 8.0 * static_cast<double>(roundUp(sizes.keys, attentionTile(sizes, cacheBytes))) *
                      static_cast<double>(roundUp(sizes.size, 16));
  const int64_t maxThreads = std::clamp(static_cast<int64_t>(muchBytes / head), fewThreads, manyThreads);
  // Each thread gets equally many heads.
  const int64_t turns = (heads + maxThreads - 1) / maxThreads;
  return wholeBytes(static_cast<double>((heads + turns - 1) / turns) * head);
}

} // namespace braid

#endif // BRAID_ATTENTIONTILE_H
