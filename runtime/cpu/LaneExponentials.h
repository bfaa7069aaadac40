//===- LaneExponentials.h - a maximum and a sum of exponentials -----------===//
//
// What softmax wants of a row x: its maximum m and the sum of exp(x - m), from one pass over
// the row.  Each lane has the maximum of what it has seen and the sum of exp(x - that maximum),
// which it scales when the maximum grows.  With two passes fewer instructions do; this is for
// rows that do not stay in the caches in between.
//
// Lanes of -infinity add nothing.  If all are, or if one is NaN or +infinity, the sum is NaN, as
// it is where x - m is computed for each lane.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_LANEEXPONENTIALS_H
#define BRAID_CPU_LANEEXPONENTIALS_H

#include "LaneMath.h"

namespace braid {

struct Exponentials {
  V max = splat(-std::numeric_limits<float>::infinity()), sum = {};

  // Of the old sum and the new term, one has the larger maximum; the other is scaled.
  void add(V x) {
    const V distance = x - base();
    const V scale = exp(bit_cast<V>(bit_cast<VI>(distance) | INT32_MIN));
    sum = distance > 0.0f ? sum * scale + 1.0f : sum + scale;
    max = maximum(max, x);
  }
  // What is subtracted: a number as long as all lanes are -infinity.
  V base() const { return maximum(max, splat(std::numeric_limits<float>::lowest())); }
};

inline float row_max(const Exponentials &e) { return row_max(e.max); }
// `m` is the maximum of the row, or more.
inline float row_sum(const Exponentials &e, float m) { return row_sum(e.sum * exp(e.base() - m)); }

} // namespace braid
#endif // BRAID_CPU_LANEEXPONENTIALS_H
