//===- HeldStarts.h - collectives that do not start early -------*- C++ -*-===//
//
// The discardable attribute `comm.held_start` of a collective, on values and in memory: it starts no earlier
// than what computes before it in the program is done.  What a block of a ring sends on is there long before
// the next rank computes with it, and what arrives early lies in memory.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_HELDSTARTS_H
#define BRAID_DIALECTS_COMM_HELDSTARTS_H

#include "dialects/Comm/Comm.h"

namespace braid::comm {

inline constexpr llvm::StringLiteral kHeldStart = "comm.held_start";

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_HELDSTARTS_H
