//===- LaneExponentials.h - maximum and sum of exponentials ---------------===//
//
// Softmax needs the maximum m of a row x and the sum of exp(x - m); this computes both in one pass over the
// row. Each lane keeps its maximum so far and the sum of exp(x - that maximum), which it rescales when the
// maximum grows. Two passes would need fewer instructions; one pass is for rows that do not stay in the
// caches between passes.
//
// Lanes with -infinity add nothing. If all lanes are -infinity, or if one is NaN or +infinity, the sum is
// NaN, the same as when x - m is computed for each lane.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_LANEEXPONENTIALS_H
#define BRAID_CPU_LANEEXPONENTIALS_H

#include "LaneMath.h"

namespace braid {

struct Exponentials {
  V max = splat(-std::numeric_limits<float>::infinity()), sum = {};

  // Rescales the old sum or the new term, whichever has the smaller maximum.
  void add(V x) {
    const V distance = x - base();
    const V scale = exp(bit_cast<V>(bit_cast<VI>(distance) | INT32_MIN));
    sum = distance > 0.0f ? sum * scale + 1.0f : sum + scale;
    max = maximum(max, x);
  }
  // Returns the value to subtract; finite even if all lanes are -infinity.
  V base() const { return maximum(max, splat(std::numeric_limits<float>::lowest())); }
};

inline float row_max(const Exponentials &e) { return row_max(e.max); }
// `m` is at least the maximum of the row.
inline float row_sum(const Exponentials &e, float m) { return row_sum(e.sum * exp(e.base() - m)); }

} // namespace braid
#endif // BRAID_CPU_LANEEXPONENTIALS_H
