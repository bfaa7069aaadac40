//===- ChunkCosts.h - seconds of a collective in chunks ---------*- C++ -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_CHUNKCOSTS_H
#define BRAID_PASSES_COLLECTIVES_CHUNKCOSTS_H

#include "lib/Cost/Machine.h"
#include "passes/Collectives/ChunkSite.h"

namespace braid {

/// Predicts the time of a collective and its adjacent contractions, whole and in chunks.
class ChunkCosts {
public:
  /// `inOrder`: no op is moved next to the wait for a collective (comm-fill-waits does not run).
  ChunkCosts(const ComputeRates &compute, const LinkRates &link, bool inOrder)
      : compute(compute), link(link), inOrder(inOrder) {}

  /// Returns the seconds from the first contraction or message to the last, for `count` chunks in a group of
  /// `ranks`.
  double of(const ChunkSite &site, int64_t ranks, int64_t count) const;

private:
  struct Kernels {
    double launch = 0; ///< Seconds for each chunk.
    double once = 0;   ///< Seconds for all chunks.
  };

  Kernels kernels(const ChunkSite &site, int64_t count) const;
  double contractions(const ChunkSite &site, int64_t count) const;
  double computedMeanwhile(const ChunkSite &site) const;

  const ComputeRates &compute;
  LinkRates link;
  bool inOrder;
};

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_CHUNKCOSTS_H
