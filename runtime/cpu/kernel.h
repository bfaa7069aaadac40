//===- kernel.h - what generated CPU kernels are written in -----------------===//
//
// A generated kernel is a loop over rows around loops over lanes.  This header
// gives it W-wide values (`V` float, `VI` int32, `VM` mask), loads and stores
// that may be partial, bf16 or strided, mathematics, reductions over lanes in a
// fixed order, counter-based random numbers, and the launch over threads.
//
// How generated code uses it:
//
//   namespace braid {
//   static void k0(const float *__restrict a, float *__restrict o, Block block) {
//     for (int64_t r = block.begin; r < block.end; ++r) { ... }
//   }
//   static void step(br_context *ctx) {
//     launch(ctx, rows, blocks, [&](Block block) { k0(a, o, block); });
//   }
//   } // namespace braid
//
//  - Be inside `namespace braid`, so that `exp` of a float is ours, not libm's.
//  - Operators (+ - * / < == & | ...) are the compiler's own; a float or int
//    next to a lane value broadcasts.  Functions take equal types: `splat` a row
//    value before handing it over with a lane value.
//  - Every function has an overload for row values (float, int32_t, int64_t,
//    bool) which gives the same bits as a lane would.
//  - Only generated code (and tests) may include this: inline functions compiled
//    for another instruction set must not meet these at link time.
//  - Compile without -ffast-math: NaN and infinity keep their meaning.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_KERNEL_H
#define BRAID_CPU_KERNEL_H

#include "braid_rt.h"

#include "LaneMath.h"
#include "LanePhilox.h"
#include "LaneReduce.h"
#include "Lanes.h"

namespace braid {

// Rows [begin, end) of a kernel, and the number of the block they form.
struct Block {
  int64_t begin, end, id;
};

// Cuts `rows` into `blocks` contiguous ranges and runs `f(Block)` on each.  The
// cut depends on the two numbers only, never on the thread count: a kernel that
// leaves one partial sum a block gives the same bits on any machine of its width.
template <class F>
inline void launch(br_context *ctx, int64_t rows, int64_t blocks, const F &f) {
  struct Call {
    int64_t rows, blocks;
    const F &f;
  } call{rows, blocks, f};
  br_parallel(
      ctx, blocks,
      [](void *arg, int64_t begin, int64_t end) {
        const Call &call = *static_cast<const Call *>(arg);
        for (int64_t id = begin; id < end; ++id)
          call.f(Block{call.rows * id / call.blocks,
                       call.rows * (id + 1) / call.blocks, id});
      },
      &call);
}

} // namespace braid
#endif // BRAID_CPU_KERNEL_H
