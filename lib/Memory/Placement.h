//===- Placement.h - where buffers lie, as a problem on its own -*- C++ -*-===//
//
// A problem is a list of buffers with sizes and lifetimes; a placement gives
// each an offset so that buffers that live at the same time do not overlap.
//
//   check   the problem makes sense
//   solve   offsets, close to the lower bound
//   verify  the answer is right, whatever the algorithm was
//
// Nothing here knows of MLIR's operations.
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
  /// Set where the offset is not free.
  std::optional<int64_t> fixed;
};

struct PlacementProblem {
  std::vector<PlacementBuffer> buffers;
  /// Offsets are multiples of it, and every buffer takes a multiple of it.
  int64_t alignment = 64;

  /// What a buffer of `bytes` takes.
  int64_t padded(int64_t bytes) const { return (bytes + alignment - 1) / alignment * alignment; }
};

struct Placement {
  /// One for each buffer.
  std::vector<int64_t> offsets;
  /// The highest end, a multiple of the alignment.
  int64_t bytes = 0;
};

/// The most bytes that are live at one time, and the first such time.  No
/// placement is smaller.
struct LiveBound {
  int64_t bytes = 0;
  int64_t time = 0;
};

llvm::Error check(const PlacementProblem &problem);
LiveBound liveBound(const PlacementProblem &problem);
/// A placement of a problem that passed `check`; deterministic.
Placement solve(const PlacementProblem &problem);
/// O(n log n), independent of how the placement was found.
llvm::Error verify(const PlacementProblem &problem, const Placement &placement);

} // namespace braid

#endif // BRAID_LIB_MEMORY_PLACEMENT_H
