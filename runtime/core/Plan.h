//===- Plan.h - the memory plan a model was compiled with -----------------===//
#ifndef BRAID_CORE_PLAN_H
#define BRAID_CORE_PLAN_H

#include "braid_rt.h"

#include <cstdint>

namespace braid {

// The plan's `peak_bytes`; the arena's size when the plan does not say.
uint64_t reportedPeak(const br_model &model);
// The plan's bytes of the host's memory beside a device's arena.
uint64_t reportedHostBytes(const br_model &model);

} // namespace braid
#endif // BRAID_CORE_PLAN_H
