//===- ChunkCosts.h - what a collective and its contractions take -*- C++ -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_CHUNKCOSTS_H
#define BRAID_PASSES_COLLECTIVES_CHUNKCOSTS_H

#include "lib/Cost/Machine.h"
#include "passes/Collectives/ChunkSite.h"

namespace braid {

/// Predicts a collective and the contractions beside it, whole and in chunks.
class ChunkCosts {
public:
  /// `inOrder`: nothing is moved to where a collective is waited for (comm-fill-waits).
  ChunkCosts(const ComputeRates &compute, const LinkRates &link, bool inOrder)
      : compute(compute), link(link), inOrder(inOrder) {}

  /// From the first contraction or message to the last, of `count` chunks in a group of `ranks`.
  double of(const ChunkSite &site, int64_t ranks, int64_t count) const;

private:
  struct Kernels {
    double launch = 0; ///< For each chunk.
    double once = 0;   ///< For all.
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
