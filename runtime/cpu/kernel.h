//===- kernel.h - the language of generated CPU kernels -------------------===//
//
// A generated kernel is a loop over rows around loops over lanes. This header provides W-wide values (`V`
// float, `VI` int32, `VM` mask), loads and stores (partial, bf16 or strided), mathematics, reductions over
// lanes in a fixed order, counter-based random numbers, and the launch over threads.
//
// How generated code uses it:
//
//   namespace braid {
//   static void k0(Block block, const float *__restrict a, float *__restrict o)
//   {
//     for (int64_t r = block.begin; r < block.end; ++r) { ... }
//   }
//   static br_status step(br_context *ctx) {
//     const Memory m(ctx);
//     launch_rows(ctx, rows, lanes, k0, m[0], m[4096]);
//     return BR_OK;
//   }
//   } // namespace braid
//
//  - Be inside `namespace braid`, so that `exp` of a float is ours, not libm's.
//  - Operators (+ - * / < == & | ...) are the compiler's own; a float or int
//    beside a lane value broadcasts. Functions take equal types: `splat` a
//    row value before passing it together with a lane value.
//  - Every function has an overload for row values (float, int32_t, int64_t,
//    bool), which gives the same bits as a lane.
//  - Only generated code (and tests) may include this header: inline functions
//    compiled for another instruction set must not be merged with these at link
//    time.
//  - Compile without -ffast-math: NaN and infinity keep their meaning.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_KERNEL_H
#define BRAID_CPU_KERNEL_H

#include "braid_rt.h"

#include "Blocks.h"
#include "LaneExponentials.h"
#include "LaneMath.h"
#include "LanePhilox.h"
#include "LaneReduce.h"
#include "Lanes.h"
#include "Launch.h"

#endif // BRAID_CPU_KERNEL_H
