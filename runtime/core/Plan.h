//===- Plan.h - the memory plan of a model --------------------------------===//
#ifndef BRAID_CORE_PLAN_H
#define BRAID_CORE_PLAN_H

#include "braid_rt.h"

#include <cstdint>

namespace braid {

// Returns the plan's `peak_bytes`, or the arena's size if the plan has none.
uint64_t reportedPeak(const br_model &model);
// Returns the plan's bytes of host memory beside a device's arena.
uint64_t reportedHostBytes(const br_model &model);

} // namespace braid
#endif // BRAID_CORE_PLAN_H
