//===- Zigzag.h - order of positions that balances ranks --------*- C++ -*-===//
//
// Under a causal mask, the last positions of a sequence have the most work. A module may have the attribute
// `comm.zigzag = #comm<axes{cp}>`. A dim of positions that is sharded over this axis of c ranks is then divided
// into 2c blocks; rank i holds block i and, behind it, block 2c - 1 - i, so that all ranks have equal work.
// TokenDims finds the dims of positions; other dims, and flat ranges, are sharded in order.
//
// Most ops compute on such a part as on any other. An op that needs its position becomes one op per block; its
// attribute `comm.half`, 0 or 1, is the block (comm-partition).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_ZIGZAG_H
#define BRAID_DIALECTS_COMM_ZIGZAG_H

#include "dialects/Comm/Comm.h"

namespace braid::comm {

inline constexpr llvm::StringLiteral kZigzag = "comm.zigzag", kHalf = "comm.half";

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_ZIGZAG_H
