//===- Placement.h - placement of buffers as a problem ----------*- C++ -*-===//
//
// A problem is a list of buffers with sizes and lifetimes; a placement gives each an
// offset so that buffers that live at the same time do not overlap.
//
//   check   whether the problem is well-formed
//   solve   offsets, close to the lower bound
//   verify  whether the answer is right, independent of the algorithm
//
// This code does not depend on MLIR's operations.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_PLACEMENT_H
#define BRAID_LIB_MEMORY_PLACEMENT_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace braid {

/// A range of bytes that is live at every time in [first, last].
struct PlacementBuffer {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
  /// Fixed offset; no value if the offset is free.
  std::optional<int64_t> fixed;
};

struct PlacementProblem {
  std::vector<PlacementBuffer> buffers;
  /// Offsets are multiples of the alignment, and every buffer takes a multiple of it.
  int64_t alignment = 64;

  /// Returns the bytes that a buffer of `bytes` takes.
  int64_t padded(int64_t bytes) const { return (bytes + alignment - 1) / alignment * alignment; }
};

struct Placement {
  /// Offset of each buffer.
  std::vector<int64_t> offsets;
  /// Highest end, a multiple of the alignment.
  int64_t bytes = 0;
};

/// Peak of live bytes, and the first time of the peak. No placement is smaller.
struct LiveBound {
  int64_t bytes = 0;
  int64_t time = 0;
};

llvm::Error check(const PlacementProblem &problem);
LiveBound liveBound(const PlacementProblem &problem);
/// Solves a problem that passed `check`; deterministic.
Placement solve(const PlacementProblem &problem);
/// Verifies a placement in O(n log n), independent of how it was found.
llvm::Error verify(const PlacementProblem &problem, const Placement &placement);

} // namespace braid

#endif // BRAID_LIB_MEMORY_PLACEMENT_H
