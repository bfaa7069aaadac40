//===- Blocks.h - copies between a tensor and blocks of it ----------------===//
//
// What a rank does alone with its number in a group: it takes its block of a
// tensor, or puts blocks where they belong.  Generated code has a constant table
// for each copy; the number of the block is all that depends on the rank.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_BLOCKS_H
#define BRAID_CPU_BLOCKS_H

#include "base/BlockCopy.h"

namespace braid {

// Copies the block that starts `from_element` elements into `from` to the place
// `to_element` elements into `to`.
void copy_block(br_context *ctx, const BlockCopy &copy, const void *from, int64_t from_element, void *to,
                int64_t to_element);

// A flat split: `bytes` bytes are ranges of `range` bytes, the last ones short or
// empty.  Copies range `number`, and zeros for what it lacks; or copies it back.
void take_range(br_context *ctx, const void *whole, int64_t bytes, int64_t number, int64_t range, void *out);
void put_range(br_context *ctx, const void *part, int64_t number, int64_t range, void *whole, int64_t bytes);

} // namespace braid
#endif // BRAID_CPU_BLOCKS_H
