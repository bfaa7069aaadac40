//===- AxisLists.h - lists of mesh axes as sequences and sets ---*- C++ -*-===//
//
// The order of a list determines how the ranks of a group are numbered (row-major). So
// lists are sliced and joined as sequences, and compared as sets.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_AXISLISTS_H
#define BRAID_LIB_SHARDING_AXISLISTS_H

#include "dialects/Comm/Comm.h"
#include <algorithm>

namespace braid {

/// Returns the axes that `keep` accepts, in their order.
inline comm::AxesAttr filterAxes(comm::AxesAttr axes, llvm::function_ref<bool(mlir::StringAttr)> keep) {
  return comm::AxesAttr::get(axes.getContext(), llvm::to_vector(llvm::make_filter_range(axes.getNames(), keep)));
}

inline comm::AxesAttr intersectionOf(comm::AxesAttr axes, comm::AxesAttr other) {
  return filterAxes(axes, [&](mlir::StringAttr axis) { return other.contains(axis); });
}

inline comm::AxesAttr differenceOf(comm::AxesAttr axes, comm::AxesAttr other) {
  return filterAxes(axes, [&](mlir::StringAttr axis) { return !other.contains(axis); });
}

inline bool areDisjoint(comm::AxesAttr a, comm::AxesAttr b) { return intersectionOf(a, b).empty(); }

inline bool isSubset(comm::AxesAttr axes, comm::AxesAttr of) { return differenceOf(axes, of).empty(); }

/// Returns the axes of `major`, then those of `minor`.
inline comm::AxesAttr joinAxes(comm::AxesAttr major, comm::AxesAttr minor) {
  auto names = llvm::to_vector(major.getNames());
  llvm::append_range(names, minor.getNames());
  return comm::AxesAttr::get(major.getContext(), names);
}

/// Returns `size` axes from `first` on; all remaining ones by default.
inline comm::AxesAttr sliceAxes(comm::AxesAttr axes, size_t first, size_t size = ~size_t(0)) {
  llvm::ArrayRef<mlir::StringAttr> rest = axes.getNames().drop_front(first);
  return comm::AxesAttr::get(axes.getContext(), rest.take_front(std::min(size, rest.size())));
}

/// Returns the position of `part` as a contiguous subsequence of `axes`; no value if it is none.
inline std::optional<size_t> findAxes(comm::AxesAttr axes, comm::AxesAttr part) {
  const mlir::StringAttr *place =
      std::search(axes.getNames().begin(), axes.getNames().end(), part.getNames().begin(), part.getNames().end());
  if (place == axes.getNames().end())
    return std::nullopt;
  return place - axes.getNames().begin();
}

} // namespace braid

#endif // BRAID_LIB_SHARDING_AXISLISTS_H
