//===- Blocks.h - the elements of a tensor's blocks -----------------------===//
//
// Block `i` of `n` of a tensor, as defined in braid_comm.h: a flat range, or the i-th part of every row.
// The block's own buffer is contiguous. In the whole tensor, the block is one range, or one range per row.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_BLOCKS_H
#define BRAID_COMM_BLOCKS_H

#include <algorithm>
#include <cstdint>

namespace braid {

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// Returns the capacity of a block's own buffer, in elements; a flat block may hold fewer elements.
inline int64_t blockCapacity(int64_t count, int n) { return (count + n - 1) / n; }

// Returns the flat range of block i. Buckets are split into work for ranks by the same rule.
inline Range flatBlock(int64_t count, int n, int i) {
  int64_t capacity = blockCapacity(count, n);
  return {std::min(count, capacity * i), std::min(count, capacity * (i + 1))};
}

// Returns the number of elements in block i.
inline int64_t blockCount(int64_t count, int rows, int n, int i) {
  return rows > 1 ? count / n : flatBlock(count, n, i).size();
}

// Calls f(offset in the whole, offset in the block, elements) for each range of block i, in the order of
// the block.
template <class F> void forEachPiece(int64_t count, int rows, int n, int i, const F &f) {
  if (rows == 1) {
    Range range = flatBlock(count, n, i);
    if (range.size() > 0)
      f(range.begin, int64_t{0}, range.size());
    return;
  }
  int64_t inner = count / rows / n;
  for (int64_t row = 0; inner > 0 && row < rows; ++row)
    f((row * n + i) * inner, row * inner, inner);
}

} // namespace braid
#endif // BRAID_COMM_BLOCKS_H
