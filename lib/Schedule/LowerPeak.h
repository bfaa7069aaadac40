//===- LowerPeak.h - an order of actions that holds less --------*- C++ -*-===//
//
// Where the most bytes are live, some only wait: they were made long before they are read, or
// could be read at once.  Who makes or reads them moves to the other side of the peak, with what
// depends on it, as long as the peak falls.  Nothing here knows of MLIR's operations.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_LOWERPEAK_H
#define BRAID_LIB_SCHEDULE_LOWERPEAK_H

#include "lib/Schedule/LiveBytes.h"

namespace braid {

struct PeakProblem {
  std::vector<LiveBuffer> buffers;
  /// For each action, earlier ones that come before it in every order.
  std::vector<llvm::SmallVector<unsigned, 4>> needs;
  /// A move must lower the peak by such a part of it.
  double leastGain = 0.001;
};

/// The actions in an order that has a lower peak, or in their own; deterministic.
std::vector<unsigned> lowerPeak(const PeakProblem &problem);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_LOWERPEAK_H
