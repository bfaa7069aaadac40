//===- OverlapLimit.h - schedules within an arena limit ---------*- C++ -*-===//
#ifndef BRAID_PASSES_OVERLAP_OVERLAPLIMIT_H
#define BRAID_PASSES_OVERLAP_OVERLAPLIMIT_H

#include "lib/Schedule/Overlap.h"

namespace braid {

/// Returns the bytes that the planner needs for a program in the order of a schedule: live bytes, and the gaps between
/// buffers.
int64_t arenaBytes(const OverlapProblem &problem, const OverlapSchedule &schedule, int64_t alignment);

/// Solves `problem` so that the arena, including gaps, keeps its limit, if there is such a schedule.
OverlapSchedule solveWithinLimit(const OverlapProblem &problem, int64_t alignment);

} // namespace braid

#endif // BRAID_PASSES_OVERLAP_OVERLAPLIMIT_H
