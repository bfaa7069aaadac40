//===- ContextCosts.h - what each way to read other positions takes -*- C++ -*-===//
#ifndef BRAID_PASSES_STRATEGIES_CONTEXTCOSTS_H
#define BRAID_PASSES_STRATEGIES_CONTEXTCOSTS_H

#include "dialects/Interfaces/Interfaces.h"
#include "lib/Cost/Machine.h"
#include "passes/Strategies/ContextWay.h"

namespace braid {

/// What a rank has to do with an op in which positions read earlier ones, forward.
struct ContextWork {
  int64_t ranks;  ///< That share the sequence.
  double seconds; ///< Of this rank, if all compute equally much.
  int64_t past;   ///< Bytes of what is read at earlier positions, of all positions.
  int64_t others; ///< Bytes of other operands and results with a sequence, of all positions.

  /// The other axes of the mesh are taken to share out the op evenly.
  static ContextWork of(mlir::Operation *op, const SequenceDims &sequence, int64_t ranks, int64_t ranksOfMesh,
                        const ComputeRates &rates);
};

struct ContextCost {
  double seconds = 0;
  int64_t keptBytes = 0; ///< Of other ranks' positions, from forward to backward.

  ContextCost &operator+=(const ContextCost &other) {
    seconds += other.seconds;
    keptBytes += other.keptBytes;
    return *this;
  }
};

/// Forward and backward of the op on the slowest rank, with what it waits for.  A ring may be in zigzag.
ContextCost costOf(ContextWay way, bool inZigzag, const ContextWork &work, const ComputeRates &rates,
                   const LinkRates &link);

} // namespace braid

#endif // BRAID_PASSES_STRATEGIES_CONTEXTCOSTS_H
