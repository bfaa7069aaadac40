//===- Agree.h - what all ranks must know of each other -------------------===//
//
// The runtime issues no collective of its own: it runs the program `agree`, which
// the compiler makes for models of many ranks.  All ranks must ask together.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_AGREE_H
#define BRAID_CORE_AGREE_H

#include "core/Model.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace braid {

// The number of values that one question takes.
constexpr int agreeValues = 8;

// The maximum of each value over all ranks; of one rank, what it was.  Unused
// values are best left 0.  Throws Error when communication failed.
std::array<int32_t, agreeValues> agree(Model &model, const std::array<int32_t, agreeValues> &values);

// Whether a condition holds on all ranks, or on any.
bool allAgree(Model &model, bool condition);
bool anyAgrees(Model &model, bool condition);

// Throws Error when parameters that ranks hold copies of differ between them.
void checkCopiesAreEqual(Model &model);

} // namespace braid
#endif // BRAID_CORE_AGREE_H
