//===- LogicalOrder.h - tensors element by element, whatever their layout
//---===//
//
// Checkpoints and initial values speak of a tensor's logical, row-major order;
// the arena may hold it transposed or padded.  These walk a range of logical
// indices and say where in the arena each element lies.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_LOGICALORDER_H
#define BRAID_CORE_LOGICALORDER_H

#include "braid_rt.h"
#include "core/NumberTypes.h"

#include <cstddef>
#include <cstring>

namespace braid {

inline int64_t numElements(const br_tensor &t) {
  int64_t n = 1;
  for (int32_t i = 0; i < t.rank; ++i)
    n *= t.shape[i];
  return n;
}

// Stored in row-major order without gaps.
inline bool isDense(const br_tensor &t) {
  int64_t expected = 1;
  for (int32_t i = t.rank - 1; i >= 0; --i) {
    if (t.shape[i] != 1 && t.stride[i] != expected)
      return false;
    expected *= t.shape[i];
  }
  return true;
}

// Calls f(logicalIndex, storedIndex) for logical indices [begin, end), in
// order.
template <class F>
void forEachElement(const br_tensor &t, int64_t begin, int64_t end, F f) {
  int64_t index[BR_MAX_RANK] = {}, stored = 0, rest = begin;
  for (int32_t i = t.rank - 1; i >= 0; --i) {
    index[i] = rest % t.shape[i];
    rest /= t.shape[i];
    stored += index[i] * t.stride[i];
  }
  for (int64_t at = begin; at < end; ++at) {
    f(at, stored);
    for (int32_t i = t.rank - 1; i >= 0; --i) {
      stored += t.stride[i];
      if (++index[i] < t.shape[i])
        break;
      stored -= t.shape[i] * t.stride[i];
      index[i] = 0;
    }
  }
}

// Copies logical elements [begin, end) out of the arena, or into it.
inline void readLogical(const br_tensor &t, const std::byte *arena,
                        int64_t begin, int64_t end, std::byte *out) {
  const std::byte *base = arena + t.offset;
  int64_t size = elementSize(t.dtype);
  if (isDense(t)) {
    std::memcpy(out, base + begin * size, (end - begin) * size);
    return;
  }
  forEachElement(t, begin, end, [&](int64_t i, int64_t stored) {
    std::memcpy(out + (i - begin) * size, base + stored * size, size);
  });
}
inline void writeLogical(const br_tensor &t, std::byte *arena, int64_t begin,
                         int64_t end, const std::byte *in) {
  std::byte *base = arena + t.offset;
  int64_t size = elementSize(t.dtype);
  if (isDense(t)) {
    std::memcpy(base + begin * size, in, (end - begin) * size);
    return;
  }
  forEachElement(t, begin, end, [&](int64_t i, int64_t stored) {
    std::memcpy(base + stored * size, in + (i - begin) * size, size);
  });
}

} // namespace braid
#endif // BRAID_CORE_LOGICALORDER_H
