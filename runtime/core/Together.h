//===- Together.h - what succeeds on all ranks or fails on all ------------===//
#ifndef BRAID_CORE_TOGETHER_H
#define BRAID_CORE_TOGETHER_H

#include "core/Model.h"

#include <functional>

namespace braid {

// Runs `action` on every rank; all must come here.  If it throws on any of them, all
// throw: Error with their own message, or RankError that names a rank that failed.
void together(Model &model, const std::function<void()> &action);

} // namespace braid
#endif // BRAID_CORE_TOGETHER_H
