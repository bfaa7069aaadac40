//===- CollectivePlan.h - steps of a collective on a device ---------------===//
//
// Steps of one rank for one collective, computed once: copies that pack the sent data into
// contiguous blocks, library calls in one group, copies that unpack the received data, and zero fills.
// Addresses and counts belong to this rank.
//
//   all_reduce, reduce, broadcast, send, recv: the call itself.  Of the first three, tensors that
//     are adjacent in both the sent and the received memory are merged.  All ranks must make the
//     same calls, so this needs the same tables on all of them.
//   reduce_scatter, all_gather of equal blocks: the call itself.
//   reduce_scatter, all_gather with a short last block: a reduce to each owner; a send and a
//     receive with each owner.  No access goes past the end of the whole tensor.
//   gather, scatter, all_to_all, permute: sends and receives.
//   blocks that are parts of rows: the same calls on blocks in scratch memory, packed before or
//     unpacked after with one strided copy for each block.
//
//   barrier: an all_reduce of one element of scratch memory.
//
// A rank's own block is copied, unless it is already in place.  So a group of one rank calls
// nothing, unless `communicatesAlone` is set.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_COLLECTIVEPLAN_H
#define BRAID_GPU_COLLECTIVEPLAN_H

#include "comm/Operation.h"

#include <cstddef>
#include <vector>

namespace braid {

// One library call on `count` elements of the operation's type.
struct Move {
  enum class Kind { AllReduce, ReduceScatter, AllGather, Reduce, Broadcast, Send, Recv };
  Kind kind;
  const std::byte *from; // null where this rank sends nothing
  std::byte *to;         // null where this rank receives nothing
  int64_t count;         // ReduceScatter and AllGather: elements of a block
  int peer;              // number of the root or of the other rank in the group
};

// Copy of `rows` pieces of `width` bytes; fromPitch and toPitch are the bytes between two pieces.
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
  std::vector<StridedCopy> before, after; // before and after the group of moves
  std::vector<Move> moves;
  std::vector<ZeroFill> zeros; // after everything else
  size_t scratchBytes = 0;
};

// Plans one collective.  `scratch` has the arena's alignment and is not read here, so a plan for
// any address tells the scratch size.  `sameTables`: all ranks of the group have these segments at
// the same arena offsets.  `communicatesAlone`: a group of one rank calls the library and sends to
// itself.
CollectivePlan planCollective(const Operation &operation, std::byte *scratch, bool sameTables,
                              bool communicatesAlone = false);

} // namespace braid
#endif // BRAID_GPU_COLLECTIVEPLAN_H
