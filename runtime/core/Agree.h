//===- Agree.h - agreement between ranks ----------------------------------===//
//
// The runtime issues no collectives of its own.  It runs the program `agree`, which the compiler
// makes for models of many ranks.  All ranks must call these functions together.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_AGREE_H
#define BRAID_CORE_AGREE_H

#include "core/Model.h"

#include <array>
#include <cstdint>
#include <functional>

namespace braid {

// Number of values in one call of agree.
constexpr int agreeValues = 8;

// Returns the maximum of each value over all ranks; with one rank, the values themselves.  Leave
// unused values at 0.  Throws Error if communication fails.
std::array<int32_t, agreeValues> agree(Model &model, const std::array<int32_t, agreeValues> &values);

// Whether a condition holds on any rank.
bool anyAgrees(Model &model, bool condition);

// Throws Error if copies of the same parameters differ between ranks.
void checkCopiesAreEqual(Model &model);

// Runs `action` on every rank; all ranks must call this.  If it throws on any rank, all ranks
// throw: Error with their own message, or RankError with the number of a failed rank.
void allOrNothing(Model &model, const std::function<void()> &action);

} // namespace braid
#endif // BRAID_CORE_AGREE_H
