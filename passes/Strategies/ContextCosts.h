//===- ContextCosts.h - costs of context parallel methods -------*- C++ -*-===//
#ifndef BRAID_PASSES_STRATEGIES_CONTEXTCOSTS_H
#define BRAID_PASSES_STRATEGIES_CONTEXTCOSTS_H

#include "dialects/Interfaces/Interfaces.h"
#include "lib/Cost/Machine.h"
#include "passes/Strategies/ContextMethod.h"

namespace braid {

/// The forward work of a rank for an op whose positions read earlier ones.
struct ContextWork {
  int64_t ranks;  ///< Number of ranks that share the sequence.
  double seconds; ///< Seconds of one rank, if all ranks compute equally much.
  int64_t past;   ///< Bytes of operands that are read at earlier positions, for all positions.
  int64_t others; ///< Bytes of other operands and results with a sequence, for all positions.

  /// Assumes that the other axes of the mesh shard the op evenly.
  static ContextWork of(mlir::Operation *op, const SequenceDims &sequence, int64_t ranks, int64_t ranksOfMesh,
                        const ComputeRates &rates);
};

struct ContextCost {
  double seconds = 0;
  int64_t keptBytes = 0; ///< Bytes of other ranks' positions that are kept from forward to backward.

  ContextCost &operator+=(const ContextCost &other) {
    seconds += other.seconds;
    keptBytes += other.keptBytes;
    return *this;
  }
};

/// Returns the cost of forward and backward of the op on the slowest rank, including waits. `inZigzag` applies to a
/// ring.
ContextCost costOf(ContextMethod method, bool inZigzag, const ContextWork &work, const ComputeRates &rates,
                   const LinkRates &link);

} // namespace braid

#endif // BRAID_PASSES_STRATEGIES_CONTEXTCOSTS_H
