//===- Prefetch.h - how far ahead units are gathered ------------*- C++ -*-===//
#ifndef BRAID_PASSES_OVERLAP_PREFETCH_H
#define BRAID_PASSES_OVERLAP_PREFETCH_H

#include "lib/Schedule/Overlap.h"

namespace braid {

/// Solves `problem`, within its limit if it has one.
OverlapSchedule solveFor(const OverlapProblem &problem, int64_t alignment);

/// Sets how many units are gathered ahead: one, and more as long as each saves time where
/// collectives take longer than predicted.
void choosePrefetch(OverlapProblem &problem, int64_t alignment);

} // namespace braid

#endif // BRAID_PASSES_OVERLAP_PREFETCH_H
