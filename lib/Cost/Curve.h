//===- Curve.h - interpolation between the points of a table -----*- C++ -*-===//
#ifndef BRAID_LIB_COST_CURVE_H
#define BRAID_LIB_COST_CURVE_H

#include "llvm/ADT/ArrayRef.h"
#include <algorithm>
#include <cmath>

namespace braid {

/// Two neighbouring points and the weight of the upper one.
struct CurvePlace {
  size_t below;
  double weight;

  template <typename At> double mix(At at) const { return (1 - weight) * at(below) + weight * at(below + 1); }
};

/// The place of `value` among at least two rising points; beyond the ends, that on the line through the last two.
inline CurvePlace placeOn(llvm::ArrayRef<double> points, double value) {
  size_t above = std::upper_bound(points.begin() + 1, points.end() - 1, value) - points.begin();
  return {above - 1, (value - points[above - 1]) / (points[above] - points[above - 1])};
}

/// The place by logarithms, of a value that counts as the first or the last point beyond these.
inline CurvePlace placeOnLog(llvm::ArrayRef<double> points, double value) {
  value = std::clamp(value, points.front(), points.back());
  size_t below = placeOn(points, value).below;
  return {below, std::log(value / points[below]) / std::log(points[below + 1] / points[below])};
}

} // namespace braid

#endif // BRAID_LIB_COST_CURVE_H
