//===- FillWaits.h - fills waits for collectives ----------------*- C++ -*-===//
//
// Often no computation lies between a collective and its first reader, although independent computation lies before the
// collective or after the reader. Examples are the gradient of a weight beside that of the same layer's input, and a
// shared expert. This algorithm moves such computation in between. It does not depend on MLIR's operations.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_FILLWAITS_H
#define BRAID_LIB_SCHEDULE_FILLWAITS_H

#include "lib/Schedule/Overlap.h"

namespace braid {

/// Directions in which computation may move.
enum class Filling {
  /// Only from before the collective: its operands live longer, and its results shorter.
  Delay,
  /// Also from after the reader: its results live longer.
  DelayAndHoist
};

/// Returns an order of the actions with a lower predicted time, or the original order. The problem must have no
/// buffers; the result is deterministic. Communications keep their order, and so do readers of gathered parameters.
/// Each action comes after the actions that it needs.
std::vector<unsigned> fillWaits(const OverlapProblem &problem, Filling filling);

/// Returns the problem with its actions permuted: the n-th action is `order[n]`.
OverlapProblem inOrder(const OverlapProblem &problem, llvm::ArrayRef<unsigned> order);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_FILLWAITS_H
