//===- Combine.h - reduce the operands of ranks ---------------------------===//
//
// Computes out[i] = sources[0][i] + sources[1][i] + ..., always from first to last, so that the bits depend
// on the operands only. Floats are combined in their own type, bf16 in f32 with one rounding at the end;
// integers wrap around. A NaN makes a maximum or minimum NaN.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_COMBINE_H
#define BRAID_COMM_COMBINE_H

#include "comm/braid_comm.h"

#include <span>

namespace braid {

// `out` may alias one of the sources.
void combine(br_dtype dtype, br_reduction reduction, std::span<const void *const> sources, void *out, int64_t count);

} // namespace braid
#endif // BRAID_COMM_COMBINE_H
