//===- Curve.h - interpolation between the points of a table -----*- C++ -*-===//
#ifndef BRAID_LIB_COST_CURVE_H
#define BRAID_LIB_COST_CURVE_H

#include "llvm/ADT/ArrayRef.h"
#include <algorithm>
#include <cmath>

namespace braid {

/// Two adjacent points and the weight of the upper one.
struct CurvePlace {
  size_t below;
  double weight;

  template <typename At> double mix(At at) const { return (1 - weight) * at(below) + weight * at(below + 1); }
};

/// Returns the place of `value` among at least two rising points. Beyond the ends it is on the line through
/// the nearest two points.
inline CurvePlace locateOnCurve(llvm::ArrayRef<double> points, double value) {
  size_t above = std::upper_bound(points.begin() + 1, points.end() - 1, value) - points.begin();
  return {above - 1, (value - points[above - 1]) / (points[above] - points[above - 1])};
}

/// Returns the place by logarithms. A value beyond the ends counts as the first or the last point.
inline CurvePlace locateOnLogCurve(llvm::ArrayRef<double> points, double value) {
  value = std::clamp(value, points.front(), points.back());
  size_t below = locateOnCurve(points, value).below;
  return {below, std::log(value / points[below]) / std::log(points[below + 1] / points[below])};
}

} // namespace braid

#endif // BRAID_LIB_COST_CURVE_H
