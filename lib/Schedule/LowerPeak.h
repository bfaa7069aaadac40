//===- LowerPeak.h - reorders actions to lower the peak ---------*- C++ -*-===//
//
// At the peak, some live buffers only wait: they were computed long before they are read, or could be read immediately.
// The algorithm moves their producers or readers to the other side of the peak, together with dependent actions, as
// long as the peak falls. It does not depend on MLIR's operations.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_LOWERPEAK_H
#define BRAID_LIB_SCHEDULE_LOWERPEAK_H

#include "lib/Schedule/LiveBytes.h"

namespace braid {

struct PeakProblem {
  std::vector<LiveBuffer> buffers;
  /// For each action, the earlier actions that precede it in every valid order.
  std::vector<llvm::SmallVector<unsigned, 4>> dependences;
  /// Smallest relative reduction of the peak that justifies a move.
  double minGain = 0.001;
};

/// Returns an order of the actions with a lower peak, or the original order. Deterministic.
std::vector<unsigned> lowerPeak(const PeakProblem &problem);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_LOWERPEAK_H
