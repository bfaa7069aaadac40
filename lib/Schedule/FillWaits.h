//===- FillWaits.h - what to compute while something is on its way -*- C++ -*-===//
//
// Between a collective and its first reader there is often nothing to compute, while what does not depend
// on it stands before it or behind that reader: the gradient of a weight beside that of the same layer's input,
// or an expert that all tokens share.  It is put in between.  Nothing here knows of MLIR's operations.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_FILLWAITS_H
#define BRAID_LIB_SCHEDULE_FILLWAITS_H

#include "lib/Schedule/Overlap.h"

namespace braid {

/// From where computing may come.
enum class Filling {
  /// From before the collective alone: what it reads lives longer, and what it makes shorter.
  Delay,
  /// Also from behind the reader: what it makes lives longer.
  DelayAndHoist
};

/// The actions of a problem, which has no buffers, in an order that is predicted to take less time, or in their own;
/// deterministic.  Actions that communicate keep their order, and so do those that read gathered parameters; each comes
/// behind what it needs.
std::vector<unsigned> fillWaits(const OverlapProblem &problem, Filling filling);

/// The problem whose n-th action is the one that `order` has there.
OverlapProblem inOrder(const OverlapProblem &problem, llvm::ArrayRef<unsigned> order);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_FILLWAITS_H
