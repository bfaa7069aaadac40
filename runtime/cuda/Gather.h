//===- Gather.h - embedding lookup and its gradient -----------------------===//
//
// Embedding lookup and its gradient.  A warp works on a strip of 32 packs of a row.  An id outside
// the table reads as zeros and adds nothing.
//
// The gradient adds the updates of an id in the order of their indices, from a sorted list and
// without atomics.  So every run gives the same bits, and for f32 they equal the CPU's.  If an id
// occurs often, as the most common words of a text do, all warps of a block add chunks of 64
// updates in parallel, and the chunk sums are added in order.  So up to 64 updates give the bits of
// the CPU, and more give the same bits in every run.  The list is sorted by merging; all keys (id,
// index) differ, so any correct sort is stable.
//
//   keys    sort_tiles        each block sorts a tile; a key's place is the number of smaller keys
//           merge_runs ...    each element finds its place in its pair of runs
//   starts  find_starts       the first key of each id
//   sums    add_segments      a warp, or a block, adds the updates of a row and strip
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_GATHER_H
#define BRAID_CUDA_GATHER_H

#include "cuda/Launch.h"
#include "cuda/Pack.h"
#include <cuda/Access.h>

#include <type_traits>
#include <utility>

namespace braid {

//===----------------------------------------------------------------------===//
// Strips: 32 packs of a row, one for each lane of a warp
//===----------------------------------------------------------------------===//

inline constexpr int strip_lanes = 32, strip_threads = 256;

struct Strip {
  int64_t row, pack; // `pack` belongs to this thread and may lie past the row's end
};

// Strip of warp `number` of this block, with the pack of this thread.
template <int THREADS> __device__ inline Strip strip_of_warp(int number, int64_t packs) {
  const int64_t strips = (packs + strip_lanes - 1) / strip_lanes;
  const int64_t warp = static_cast<int64_t>(blockIdx.x) * (THREADS / strip_lanes) + number;
  return {warp / strips, warp % strips * strip_lanes + threadIdx.x % strip_lanes};
}

inline int64_t strip_blocks(int64_t rows, int64_t packs, int threads) {
  const int64_t strips = (packs + strip_lanes - 1) / strip_lanes, warps = threads / strip_lanes;
  return (rows * strips + warps - 1) / warps;
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

template <class Unit>
__global__ void __launch_bounds__(strip_threads)
    gather_rows_kernel(int64_t n, int64_t rows, int64_t packs, const Unit *__restrict__ table,
                       const int32_t *__restrict__ ids, Unit *__restrict__ out) {
  enter_kernel();
  const Strip strip = strip_of_warp<strip_threads>(threadIdx.x / strip_lanes, packs);
  if (strip.row >= n || strip.pack >= packs)
    return;
  const int64_t id = load(ids + strip.row);
  Unit value = {};
  if (id >= 0 && id < rows)
    value = load(table + id * packs + strip.pack);
  store(out + strip.row * packs + strip.pack, value);
}

// out[i, :] = table[ids[i], :] for n ids; rows of `width` elements.
template <class T>
void gather(const Memory &m, int64_t n, int64_t rows, int64_t width, const void *table, const void *ids, void *out) {
  if (n == 0 || width == 0)
    return;
  auto run = [&](auto unit, int64_t packs) {
    using Unit = decltype(unit);
    launch(m, strip_blocks(n, packs, strip_threads), strip_threads, preloaded<gather_rows_kernel<Unit>>(), n, rows,
           packs, static_cast<const Unit *>(table), static_cast<const int32_t *>(ids), static_cast<Unit *>(out));
  };
  constexpr int lanes = 16 / sizeof(T);
  if (all_multiples(16, width * sizeof(T), address_of(table), address_of(out)))
    run(Pack<T, lanes>{}, width / lanes);
  else
    run(Pack<T, 1>{}, width);
}

//===----------------------------------------------------------------------===//
// Sorting ids
//===----------------------------------------------------------------------===//

inline constexpr int tile_keys = 256;

// Sort key: the id, then the index.  Ids outside the table come last.
__device__ inline uint64_t key_of(int64_t id, int64_t rows, int64_t index) {
  const int64_t sorted = id >= 0 && id < rows ? id : rows;
  return static_cast<uint64_t>(sorted) << 32 | static_cast<uint64_t>(index);
}

static __global__ void __launch_bounds__(tile_keys)
    sort_tiles_kernel(int64_t n, int64_t rows, const int32_t *__restrict__ ids, uint64_t *__restrict__ keys) {
  enter_kernel();
  __shared__ uint64_t memory[tile_keys];
  const Shared<uint64_t, tile_keys> tile(memory);
  const int64_t first = static_cast<int64_t>(blockIdx.x) * tile_keys, index = first + threadIdx.x;
  const int length = static_cast<int>(n - first < tile_keys ? n - first : tile_keys);
  const uint64_t key = index < n ? key_of(load(ids + index), rows, index) : 0;
  tile.put(threadIdx.x, key);
  block_barrier();
  if (index >= n)
    return;
  int smaller = 0;
  for (int i = 0; i < length; ++i)
    smaller += tile.get(i) < key;
  store(keys + first + smaller, key);
}

// Returns how many of the sorted keys are smaller than `key`.
__device__ inline int64_t count_smaller(const uint64_t *keys, int64_t length, uint64_t key) {
  int64_t begin = 0, end = length;
  while (begin < end) {
    const int64_t middle = (begin + end) / 2;
    if (load(keys + middle) < key)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

// Merges pairs of sorted runs of `run` keys each.
static __global__ void __launch_bounds__(tile_keys)
    merge_runs_kernel(int64_t n, int64_t run, const uint64_t *__restrict__ from, uint64_t *__restrict__ to) {
  enter_kernel();
  const int64_t index = static_cast<int64_t>(blockIdx.x) * tile_keys + threadIdx.x;
  if (index >= n)
    return;
  const int64_t pair = index / (2 * run) * (2 * run), isSecond = (index - pair) / run;
  const int64_t own = pair + isSecond * run, other = pair + (1 - isSecond) * run;
  const int64_t left = n - other, length = left < 0 ? 0 : left < run ? left : run;
  const uint64_t key = load(from + index);
  store(to + pair + (index - own) + count_smaller(from + other, length, key), key);
}

// starts[id] is the position of the first key of `id`; starts[rows], of the first key outside the
// table.
static __global__ void __launch_bounds__(tile_keys)
    find_starts_kernel(int64_t n, int64_t rows, const uint64_t *__restrict__ keys, int32_t *__restrict__ starts) {
  enter_kernel();
  const int64_t id = static_cast<int64_t>(blockIdx.x) * tile_keys + threadIdx.x;
  if (id <= rows)
    store(starts + id, static_cast<int32_t>(count_smaller(keys, n, static_cast<uint64_t>(id) << 32)));
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

inline constexpr int segment_threads = 512, chunk_updates = 64;

// Strip `number` of this block.  Where ids follow frequency, rows of common words are adjacent.  So
// the strips of a block lie as far apart as possible: then a block has at most one strip with long
// sums.
__device__ inline Strip spread_strip(int number, int64_t packs) {
  const int64_t strips = (packs + strip_lanes - 1) / strip_lanes;
  const int64_t index = static_cast<int64_t>(number) * gridDim.x + blockIdx.x;
  return {index / strips, index % strips * strip_lanes + threadIdx.x % strip_lanes};
}

// Loads in flight in a warp that adds many updates, as many as its registers hold.
template <class T> constexpr int many_ahead = sizeof(T) <= 8 ? 16 : 4;

// Adds the updates at keys [begin, end) to `sum`, in order, with AHEAD loads in flight.
template <int AHEAD, class In, class Sum, int W>
__device__ inline void add_updates(Sum (&sum)[W], const uint64_t *keys, int32_t begin, int32_t end,
                                   const Pack<In, W> *updates, int64_t packs) {
  for (int32_t i = begin; i < end; i += AHEAD) {
    Pack<In, W> next[AHEAD] = {};
#pragma unroll
    for (int a = 0; a < AHEAD; ++a)
      if (i + a < end)
        next[a] = load(updates + static_cast<int64_t>(load(keys + i + a) & 0xffffffffu) * packs);
#pragma unroll
    for (int a = 0; a < AHEAD; ++a)
      if (i + a < end)
        for (int w = 0; w < W; ++w)
          sum[w] += static_cast<Sum>(next[a].at[w]);
  }
}

// Adds the updates at keys [begin, end) to `sum` of warp `owner`.  Each warp sums a chunk, and the
// owner adds the chunk sums in order.  The range is the same for all threads.
template <class In, class Sum, int W>
__device__ inline void add_chunks(Sum (&sum)[W], int owner, const uint64_t *keys, int32_t begin, int32_t end,
                                  const Pack<In, W> *updates, int64_t packs, bool inside) {
  constexpr int warps = segment_threads / strip_lanes;
  __shared__ Sum memory[segment_threads * W];
  const Shared<Sum, segment_threads * W> partial(memory);
  const int warp = threadIdx.x / strip_lanes, lane = threadIdx.x % strip_lanes;
  for (int32_t first = begin; first < end; first += warps * chunk_updates) {
    const int32_t chunk_begin = first + warp * chunk_updates, left = end - chunk_begin;
    Sum part[W] = {};
    if (inside && left > 0)
      add_updates<many_ahead<Pack<In, W>>>(part, keys, chunk_begin,
                                           left < chunk_updates ? end : chunk_begin + chunk_updates, updates, packs);
    for (int w = 0; w < W; ++w)
      partial.put(w * segment_threads + threadIdx.x, part[w]);
    block_barrier();
    for (int other = 0; other < warps && warp == owner && first + other * chunk_updates < end; ++other)
      for (int w = 0; w < W; ++w)
        sum[w] += partial.get(w * segment_threads + other * strip_lanes + lane);
    block_barrier();
  }
}

// Sums in f64 for f64 results and in f32 for all others, and rounds to the result's type once.
template <class Out, class In, int W>
__global__ void __launch_bounds__(segment_threads)
    add_segments_kernel(int64_t rows, int64_t packs, bool accumulate, const uint64_t *__restrict__ keys,
                        const int32_t *__restrict__ starts, const In *__restrict__ updates, Out *__restrict__ out) {
  enter_kernel();
  using Sum = std::conditional_t<sizeof(Out) == 8, double, float>;
  constexpr int warps = segment_threads / strip_lanes;
  __shared__ int32_t memory[warps];
  const Shared<int32_t, warps> lengths(memory);
  const int warp = threadIdx.x / strip_lanes;
  const Pack<In, W> *update = reinterpret_cast<const Pack<In, W> *>(updates);

  const Strip strip = spread_strip(warp, packs);
  const int32_t begin = strip.row < rows ? load(starts + strip.row) : 0;
  const int32_t length = strip.row < rows ? load(starts + strip.row + 1) - begin : 0;
  const bool inside = strip.row < rows && strip.pack < packs && (length || !accumulate);
  if (threadIdx.x % strip_lanes == 0)
    lengths.put(warp, length);

  Pack<Out, W> *place = reinterpret_cast<Pack<Out, W> *>(out) + strip.row * packs + strip.pack;
  Sum sum[W] = {};
  if (inside && accumulate) {
    const Pack<Out, W> old = load(place);
    for (int w = 0; w < W; ++w)
      sum[w] = static_cast<Sum>(old.at[w]);
  }
  if (inside)
    add_updates<4>(sum, keys, begin, begin + (length < chunk_updates ? length : chunk_updates), update + strip.pack,
                   packs);
  block_barrier();
  int32_t longest = 0;
#pragma unroll
  for (int other = 0; other < warps; ++other)
    longest = longest < lengths.get(other) ? lengths.get(other) : longest;
  for (int owner = 0; longest > chunk_updates && owner < warps; ++owner)
    if (const int32_t length = lengths.get(owner); length > chunk_updates) {
      const Strip owner_strip = spread_strip(owner, packs);
      const int32_t first = load(starts + owner_strip.row);
      add_chunks(sum, owner, keys, first + chunk_updates, first + length, update + owner_strip.pack, packs,
                 owner_strip.pack < packs);
    }
  if (!inside)
    return;
  Pack<Out, W> result;
  for (int w = 0; w < W; ++w)
    result.at[w] = static_cast<Out>(sum[w]);
  store(place, result);
}

// Bytes of scratch memory of scatter_add: two lists of keys, and the starts.
constexpr int64_t scatter_add_scratch(int64_t n, int64_t rows) {
  return 2 * n * static_cast<int64_t>(sizeof(uint64_t)) + (rows + 1) * static_cast<int64_t>(sizeof(int32_t));
}

// Positions of updates have 32 bits, and so has a position plus the updates that a block adds at a
// time.
inline constexpr int64_t max_updates = (int64_t{1} << 31) - segment_threads / strip_lanes * chunk_updates - 1;

// out = 0 (unless accumulate); out[ids[i], :] += updates[i, :], added in order of i.
// `scratch` is aligned to 8 bytes and holds scatter_add_scratch(n, rows).
template <class Out, class In = Out>
void scatter_add(const Memory &m, int64_t n, int64_t rows, int64_t width, const void *ids, const void *updates,
                 int32_t accumulate, void *out, void *scratch) {
  if (rows == 0 || width == 0)
    return;
  if (n > max_updates)
    return refuse(m, "updates of the rows of a table", n, max_updates);
  uint64_t *keys = static_cast<uint64_t *>(scratch), *spare = keys + n;
  int32_t *starts = reinterpret_cast<int32_t *>(spare + n);
  const int64_t tiles = (n + tile_keys - 1) / tile_keys;
  if (n)
    launch(m, tiles, tile_keys, preloaded<sort_tiles_kernel>(), n, rows, static_cast<const int32_t *>(ids), keys);
  for (int64_t run = tile_keys; run < n; run *= 2, std::swap(keys, spare))
    launch(m, tiles, tile_keys, preloaded<merge_runs_kernel>(), n, run, keys, spare);
  launch(m, (rows + tile_keys) / tile_keys, tile_keys, preloaded<find_starts_kernel>(), n, rows, keys, starts);

  constexpr int lanes = 16 / (sizeof(Out) > sizeof(In) ? sizeof(Out) : sizeof(In));
  auto run = [&](auto width, int64_t packs) {
    launch(m, strip_blocks(rows, packs, segment_threads), segment_threads,
           preloaded<add_segments_kernel<Out, In, width>>(), rows, packs, accumulate != 0, keys, starts,
           static_cast<const In *>(updates), static_cast<Out *>(out));
  };
  if (width % lanes == 0 && all_multiples(lanes * sizeof(In), address_of(updates)) &&
      all_multiples(lanes * sizeof(Out), address_of(out)))
    run(std::integral_constant<int, lanes>{}, width / lanes);
  else
    run(std::integral_constant<int, 1>{}, width);
}

} // namespace braid
#endif // BRAID_CUDA_GATHER_H
