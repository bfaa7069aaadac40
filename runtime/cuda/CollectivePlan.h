//===- CollectivePlan.h - a collective as calls of a device ---------------===//
//
// What a rank does for one collective, worked out once: copies that bring what it
// sends into blocks that are contiguous, NCCL's calls, which run as one group, copies
// that put what has come into its place, and what is zeroed.  Nothing here is NCCL's
// own: addresses and counts are those of this rank.
//
//   all_reduce, reduce, broadcast, send, recv: the call itself.  Tensors of the first
//     three that lie side by side, in what is sent and in what is received, are one:
//     all ranks must make the same calls, so only where all have the same tables.
//   reduce_scatter, all_gather of equal blocks: the call itself.
//   of blocks where the last is short: a reduce to each owner; a send and a receive
//     with each owner.  The whole is neither read nor written past its end.
//   gather, scatter, all_to_all, permute: sends and receives.
//   blocks that are parts of rows: the same over blocks in scratch memory, packed
//     before or unpacked after, a strided copy a block.
//
//   barrier: an all_reduce of one element of scratch memory.
//
// A rank's own block is copied, unless it lies in its place.  So a rank alone calls nothing, unless
// the plan is one that communicates alone.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_COLLECTIVEPLAN_H
#define BRAID_CUDA_COLLECTIVEPLAN_H

#include "comm/Operation.h"

#include <cstddef>
#include <vector>

namespace braid {

// A call of NCCL's over `count` elements of the operation's type.
struct Move {
  enum class Kind { AllReduce, ReduceScatter, AllGather, Reduce, Broadcast, Send, Recv };
  Kind kind;
  const std::byte *from; // null where this rank sends nothing
  std::byte *to;         // null where it receives nothing
  int64_t count;         // of ReduceScatter and AllGather: a block's
  int peer;              // place of the root, or of the other rank
};

// `rows` pieces of `width` bytes, each a pitch after the one before.
struct StridedCopy {
  const std::byte *from;
  std::byte *to;
  size_t width, rows, fromPitch, toPitch;
};

struct ZeroFill {
  std::byte *at;
  size_t bytes;
};

struct CollectivePlan {
  std::vector<StridedCopy> before, after; // the group of moves
  std::vector<Move> moves;
  std::vector<ZeroFill> zeros; // after all
  size_t scratchBytes = 0;
};

// `scratch` is aligned as the arena is; it is not read here, so a plan that was made
// with any address says how much is needed.  `sameTables`: all ranks of the group have
// these segments at the same offsets of their arenas.  `communicatesAlone`: a group of one rank
// calls the library, and sends to itself.
CollectivePlan planCollective(const Operation &operation, std::byte *scratch, bool sameTables,
                              bool communicatesAlone = false);

} // namespace braid
#endif // BRAID_CUDA_COLLECTIVEPLAN_H
