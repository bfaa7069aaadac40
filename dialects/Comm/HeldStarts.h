//===- HeldStarts.h - collectives that do not start early -------*- C++ -*-===//
//
// The discardable attribute `comm.held_start` of a collective, on values and in memory: the collective
// starts only after the actions before it in the program have computed. A block that a ring passes on would
// otherwise arrive long before the next rank uses it, and occupy memory until then.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_HELDSTARTS_H
#define BRAID_DIALECTS_COMM_HELDSTARTS_H

#include "dialects/Comm/Comm.h"

namespace braid::comm {

inline constexpr llvm::StringLiteral kHeldStart = "comm.held_start";

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_HELDSTARTS_H
