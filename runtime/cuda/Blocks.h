//===- Blocks.h - copies between a tensor and blocks of it, on the device -===//
//
// Actions without communication that depend on the rank's number in a group, as in cpu/Blocks.h.
// The driver copies ranges and whole tensors.  A kernel copies strided blocks, in units of up to 16
// bytes, as far as both sides are contiguous.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_BLOCKS_H
#define BRAID_CUDA_BLOCKS_H

#include "base/BlockCopy.h"
#include "cuda/Launch.h"
#include "cuda/Pack.h"
#include "cuda/braid_cuda.h"
#include <cuda/Access.h>

#include <cuda_runtime.h>

#include <algorithm>

namespace braid {

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

// Loops of a copy, in the order of the written memory; adjacent loops that compose are merged.
// Sizes and strides are in units of `bytes` bytes.
struct CopyLoops {
  int32_t bytes, count;
  int64_t size[BR_MAX_RANK], from[BR_MAX_RANK], to[BR_MAX_RANK];

  int64_t total() const {
    int64_t product = 1;
    for (int32_t i = 0; i < count; ++i)
      product *= size[i];
    return product;
  }
  bool is_contiguous() const { return count == 0 || (count == 1 && from[0] == 1 && to[0] == 1); }
};

inline CopyLoops loops_of(const BlockCopy &copy) {
  int32_t order[BR_MAX_RANK];
  for (int32_t i = 0; i < copy.loops; ++i)
    order[i] = i;
  std::stable_sort(order, order + copy.loops, [&](int32_t a, int32_t b) { return copy.to[a] > copy.to[b]; });
  CopyLoops loops = {copy.bytes, 0, {}, {}, {}};
  for (int32_t i = 0; i < copy.loops; ++i) {
    const int32_t o = order[i], last = loops.count - 1;
    if (copy.size[o] == 1)
      continue;
    if (last >= 0 && loops.from[last] == copy.from[o] * copy.size[o] && loops.to[last] == copy.to[o] * copy.size[o])
      loops.size[last] *= copy.size[o], loops.from[last] = copy.from[o], loops.to[last] = copy.to[o];
    else
      loops.size[loops.count] = copy.size[o], loops.from[loops.count] = copy.from[o],
      loops.to[loops.count++] = copy.to[o];
  }
  return loops;
}

// Doubles the unit while pairs of units stay contiguous and aligned on both sides.
inline void widen(CopyLoops &loops, uint64_t from, uint64_t to) {
  const int32_t last = loops.count - 1;
  auto canDouble = [&] {
    bool even = loops.from[last] == 1 && loops.to[last] == 1 && loops.size[last] % 2 == 0 &&
                all_multiples(2 * loops.bytes, from, to);
    for (int32_t i = 0; i < last; ++i)
      even = even && loops.from[i] % 2 == 0 && loops.to[i] % 2 == 0;
    return even;
  };
  while (last >= 0 && loops.bytes < 16 && canDouble()) {
    loops.bytes *= 2, loops.size[last] /= 2;
    for (int32_t i = 0; i < last; ++i)
      loops.from[i] /= 2, loops.to[i] /= 2;
  }
}

inline constexpr int copy_threads = 256;

// Index must be wide enough for `total`.
template <class Unit, class Index>
__global__ void __launch_bounds__(copy_threads)
    copy_block_kernel(CopyLoops loops, Index total, const Unit *from, Unit *to) {
  enter_kernel();
  const Index stride = static_cast<Index>(gridDim.x) * copy_threads;
  for (Index i = static_cast<Index>(blockIdx.x) * copy_threads + threadIdx.x; i < total; i += stride) {
    Index rest = i;
    int64_t source = 0, target = 0;
    for (int32_t l = loops.count - 1; l >= 0; --l) {
      const Index size = static_cast<Index>(loops.size[l]), at = rest % size;
      rest /= size;
      source += at * loops.from[l], target += at * loops.to[l];
    }
    store(to + target, load(from + source));
  }
}

template <class Unit> void launch_copy(const Memory &m, const CopyLoops &loops, const void *from, void *to) {
  const int64_t total = loops.total(), limit = 16 * 1024;
  const int64_t blocks = std::min((total + copy_threads - 1) / copy_threads, limit);
  const Unit *source = static_cast<const Unit *>(from);
  Unit *target = static_cast<Unit *>(to);
  if (total + limit * copy_threads <= int64_t{1} << 32)
    launch(m, blocks, copy_threads, preloaded<copy_block_kernel<Unit, uint32_t>>(), loops, static_cast<uint32_t>(total),
           source, target);
  else
    launch(m, blocks, copy_threads, preloaded<copy_block_kernel<Unit, int64_t>>(), loops, total, source, target);
}

inline void copy_bytes(const Memory &m, const void *from, void *to, int64_t bytes) {
  if (bytes > 0)
    br_cuda_check(m.context(), cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, m.stream()),
                  "cudaMemcpyAsync");
}

// Copies the block at element `from_element` of `from` to element `to_element` of `to`.
inline void copy_block(const Memory &m, const BlockCopy &copy, const void *from, int64_t from_element, void *to,
                       int64_t to_element) {
  const char *source = static_cast<const char *>(from) + from_element * copy.bytes;
  char *target = static_cast<char *>(to) + to_element * copy.bytes;
  CopyLoops loops = loops_of(copy);
  if (loops.total() == 0)
    return;
  if (loops.is_contiguous())
    return copy_bytes(m, source, target, loops.total() * copy.bytes);
  widen(loops, address_of(source), address_of(target));
  switch (loops.bytes) {
  case 1:
    return launch_copy<uint8_t>(m, loops, source, target);
  case 2:
    return launch_copy<uint16_t>(m, loops, source, target);
  case 4:
    return launch_copy<uint32_t>(m, loops, source, target);
  case 8:
    return launch_copy<uint64_t>(m, loops, source, target);
  default:
    return launch_copy<Pack<uint64_t, 2>>(m, loops, source, target);
  }
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

// Bytes of range `number` that lie within the tensor.
inline int64_t range_length(int64_t bytes, int64_t number, int64_t range) {
  return std::clamp<int64_t>(bytes - number * range, 0, range);
}

// A flat split of `bytes` bytes into ranges of `range` bytes; the last ranges are short or empty.
// take_range copies range `number` to `out` and pads it with zeros; put_range copies it back.
inline void take_range(const Memory &m, const void *whole, int64_t bytes, int64_t number, int64_t range, void *out) {
  const int64_t length = range_length(bytes, number, range);
  copy_bytes(m, static_cast<const char *>(whole) + number * range, out, length);
  if (length < range)
    br_cuda_check(m.context(), cudaMemsetAsync(static_cast<char *>(out) + length, 0, range - length, m.stream()),
                  "cudaMemsetAsync");
}

inline void put_range(const Memory &m, const void *part, int64_t number, int64_t range, void *whole, int64_t bytes) {
  copy_bytes(m, part, static_cast<char *>(whole) + number * range, range_length(bytes, number, range));
}

//===----------------------------------------------------------------------===//
// The rank's place
//===----------------------------------------------------------------------===//

static __global__ void store_index_kernel(int32_t index, int32_t *out) {
  enter_kernel();
  if (blockIdx.x == 0 && threadIdx.x == 0)
    store(out, index);
}

// out = the rank's number in its group of kind `group`.
inline void axis_index(const Memory &m, int32_t group, void *out) {
  launch(m, 1, 1, preloaded<store_index_kernel>(), br_axis_index(m.context(), group), static_cast<int32_t *>(out));
}

} // namespace braid
#endif // BRAID_CUDA_BLOCKS_H
