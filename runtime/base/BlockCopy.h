//===- BlockCopy.h - a copy between a tensor and a block of it ------------===//
//
// Generated code has a constant table for each copy; only the number of the block depends on the
// rank.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_BASE_BLOCKCOPY_H
#define BRAID_BASE_BLOCKCOPY_H

#include "braid_rt.h"

namespace braid {

// Loops over a block, outermost first; strides are in elements of `bytes` bytes.
struct BlockCopy {
  int32_t bytes, loops;
  int64_t size[BR_MAX_RANK], from[BR_MAX_RANK], to[BR_MAX_RANK];
};

// Number of the block `shift` positions after this rank's own; wraps around at `ranks`.
inline int64_t block_number(br_context *ctx, int32_t group, int64_t ranks, int64_t shift) {
  return (br_axis_index(ctx, group) + shift) % ranks;
}

} // namespace braid
#endif // BRAID_BASE_BLOCKCOPY_H
