//===- LaneReduce.h - reduce lanes to one value ---------------------------===//
//
// Reductions over the lanes of one value use a fixed tree: the upper half is combined with the lower half
// until one lane is left. The order depends on W only. The trees need maximum and minimum, so these are
// defined here: NaN wins, as in arith.maximumf (the sign of zero is not ordered).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_LANEREDUCE_H
#define BRAID_CPU_LANEREDUCE_H

#include "Lanes.h"

#include <limits>

namespace braid {

inline V maximum(V a, V b) { return ((a > b) | (a != a)) ? a : b; }
inline V minimum(V a, V b) { return ((a < b) | (a != a)) ? a : b; }
inline VI maximum(VI a, VI b) { return a > b ? a : b; }
inline VI minimum(VI a, VI b) { return a < b ? a : b; }
inline float maximum(float a, float b) { return a > b || a != a ? a : b; }
inline float minimum(float a, float b) { return a < b || a != a ? a : b; }
inline int32_t maximum(int32_t a, int32_t b) { return a > b ? a : b; }
inline int32_t minimum(int32_t a, int32_t b) { return a < b ? a : b; }
inline int64_t maximum(int64_t a, int64_t b) { return a > b ? a : b; }
inline int64_t minimum(int64_t a, int64_t b) { return a < b ? a : b; }

// The other pair in arith (maxnumf, minnumf): a number wins over NaN.
inline V maxnum(V a, V b) { return ((a > b) | (b != b)) ? a : b; }
inline V minnum(V a, V b) { return ((a < b) | (b != b)) ? a : b; }
inline float maxnum(float a, float b) { return a > b || b != b ? a : b; }
inline float minnum(float a, float b) { return a < b || b != b ? a : b; }

namespace detail {
template <class Vector, class Op> inline auto tree(Vector v, Op op) {
#if BRAID_LANES == 16
  auto v8 = op(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7),
               __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
#elif BRAID_LANES == 8
  auto v8 = v;
#endif
#if BRAID_LANES >= 8
  auto v4 = op(__builtin_shufflevector(v8, v8, 0, 1, 2, 3), __builtin_shufflevector(v8, v8, 4, 5, 6, 7));
#else
  auto v4 = v;
#endif
  auto v2 = op(v4, __builtin_shufflevector(v4, v4, 2, 3, 2, 3));
  return op(v2, __builtin_shufflevector(v2, v2, 1, 1, 1, 1))[0];
}
} // namespace detail

inline float row_sum(V v) {
  return detail::tree(v, [](auto a, auto b) { return a + b; });
}
inline float row_product(V v) {
  return detail::tree(v, [](auto a, auto b) { return a * b; });
}
inline float row_max(V v) {
  return detail::tree(v, [](auto a, auto b) { return ((a > b) | (a != a)) ? a : b; });
}
inline float row_min(V v) {
  return detail::tree(v, [](auto a, auto b) { return ((a < b) | (a != a)) ? a : b; });
}
inline int32_t row_sum(VI v) {
  return detail::tree(v, [](auto a, auto b) { return a + b; });
}
inline int32_t row_max(VI v) {
  return detail::tree(v, [](auto a, auto b) { return a > b ? a : b; });
}
inline int32_t row_min(VI v) {
  return detail::tree(v, [](auto a, auto b) { return a < b ? a : b; });
}
inline bool row_any(VM m) {
  return detail::tree(m, [](auto a, auto b) { return a | b; }) != 0;
}
inline bool row_all(VM m) {
  return detail::tree(m, [](auto a, auto b) { return a & b; }) != 0;
}

// Reductions over the first n lanes.
inline float row_sum(V v, int64_t n) { return row_sum(keep(v, n, 0.0f)); }
inline int32_t row_sum(VI v, int64_t n) { return row_sum(keep(v, n, 0)); }
inline float row_max(V v, int64_t n) { return row_max(keep(v, n, -std::numeric_limits<float>::infinity())); }
inline float row_min(V v, int64_t n) { return row_min(keep(v, n, std::numeric_limits<float>::infinity())); }

//===----------------------------------------------------------------------===//
// Sums of many terms
//
// Every few terms, a sum is added to a total with compensated summation (Kahan, Neumaier). So the error
// does not grow with the number of terms.
//===----------------------------------------------------------------------===//

// `lost` accumulates the rounding errors of additions to `sum`.
template <class X> struct Total {
  X sum, lost;
};

template <class X> inline void carry(X &sum, Total<X> &total) {
  const X next = total.sum + sum, added = next - total.sum;
  total.lost += (total.sum - (next - added)) + (sum - added);
  total.sum = next;
  sum = X{};
}

// Called after the last term. Ignores the rounding errors if they would turn the total into NaN.
template <class X> inline void settle(X &sum, Total<X> &total) {
  carry(sum, total);
  const X whole = total.sum + total.lost;
  sum = select(whole == whole, whole, total.sum);
}

template <class X, size_t N> inline void carry(X (&sum)[N], Total<X> (&total)[N]) {
  for (size_t i = 0; i < N; ++i)
    carry(sum[i], total[i]);
}
template <class X, size_t N> inline void settle(X (&sum)[N], Total<X> (&total)[N]) {
  for (size_t i = 0; i < N; ++i)
    settle(sum[i], total[i]);
}

} // namespace braid
#endif // BRAID_CPU_LANEREDUCE_H
