//===- AllOrNothing.h - actions that succeed on all ranks or on none ------===//
#ifndef BRAID_CORE_ALLORNOTHING_H
#define BRAID_CORE_ALLORNOTHING_H

#include "core/Model.h"

#include <functional>

namespace braid {

// Runs `action` on every rank; all ranks must call this.  If it throws on any rank, all ranks
// throw: Error with their own message, or RankError with the number of a failed rank.
void allOrNothing(Model &model, const std::function<void()> &action);

} // namespace braid
#endif // BRAID_CORE_ALLORNOTHING_H
