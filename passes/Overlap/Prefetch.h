//===- Prefetch.h - how many units are gathered ahead -----------*- C++ -*-===//
#ifndef BRAID_PASSES_OVERLAP_PREFETCH_H
#define BRAID_PASSES_OVERLAP_PREFETCH_H

#include "lib/Schedule/Overlap.h"

namespace braid {

/// Solves `problem`, within its limit if it has one.
OverlapSchedule solveFor(const OverlapProblem &problem, int64_t alignment);

/// Sets the number of units that are gathered ahead. Starts with one, and adds more as long as each saves time if
/// collectives are slower than predicted.
void choosePrefetch(OverlapProblem &problem, int64_t alignment);

} // namespace braid

#endif // BRAID_PASSES_OVERLAP_PREFETCH_H
