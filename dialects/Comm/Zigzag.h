//===- Zigzag.h - positions in an order that balances ranks -----*- C++ -*-===//
//
// Of what a causal mask leaves, the last positions of a sequence have most.  Where a module says
// `comm.zigzag = #comm<axes{cp}>`, a dim of positions that is sharded over this axis of c ranks is 2c blocks, of
// which rank i has block i and, behind it, block 2c - 1 - i: then all ranks have equally much.  Which dims are of
// positions, TokenDims finds; others, and flat ranges, are shared out in order.
//
// A rank computes with such a part as with any other.  What must know where its part is becomes one op for each
// block, on which `comm.half`, 0 or 1, says which block it is (comm-partition).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_ZIGZAG_H
#define BRAID_DIALECTS_COMM_ZIGZAG_H

#include "dialects/Comm/Comm.h"

namespace braid::comm {

inline constexpr llvm::StringLiteral kZigzag = "comm.zigzag", kHalf = "comm.half";

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_ZIGZAG_H
