//===- Blocks.h - copies between a tensor and blocks of it ----------------===//
//
// Actions of a rank without communication, by its number in a group: it takes its block of a tensor, or
// puts blocks into place. Generated code has a constant table for each copy; only the number of the block
// depends on the rank.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_BLOCKS_H
#define BRAID_CPU_BLOCKS_H

#include "base/BlockCopy.h"

namespace braid {

// Copies the block that starts `from_element` elements into `from` to the place `to_element` elements into
// `to`.
void copy_block(br_context *ctx, const BlockCopy &copy, const void *from, int64_t from_element, void *to,
                int64_t to_element);

// Flat split: `bytes` bytes are divided into ranges of `range` bytes; the last ones may be short or empty.
// `take_range` copies range `number`, zero-padded; `put_range` copies it back.
void take_range(br_context *ctx, const void *whole, int64_t bytes, int64_t number, int64_t range, void *out);
void put_range(br_context *ctx, const void *part, int64_t number, int64_t range, void *whole, int64_t bytes);

} // namespace braid
#endif // BRAID_CPU_BLOCKS_H
