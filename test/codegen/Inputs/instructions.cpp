// Every function of cpu/Instructions.h, in a function of its own with C linkage.
#include "cpu/kernel.h"

namespace braid {
#define INSTRUCTION(NAME, RESULT, PARAMETERS, CALL)                                                                    \
  extern "C" RESULT NAME PARAMETERS { return x86::CALL; }

INSTRUCTION(square_root, V, (V x), sqrt(x))
INSTRUCTION(nearest, V, (V x), round<x86::Nearest>(x))
INSTRUCTION(below, V, (V x), round<x86::Down>(x))
INSTRUCTION(above, V, (V x), round<x86::Up>(x))
INSTRUCTION(fused, V, (V a, V b, V c), fma(a, b, c))
INSTRUCTION(products, VL, (VU a, VU b), multiply_even(a, b))
INSTRUCTION(stream_floats, void, (float *p, V x), stream(p, x))
INSTRUCTION(stream_halves, void, (bf16 * p, VH x), stream(p, x))
INSTRUCTION(fence, void, (), store_fence())
#if BRAID_ISA_AVX512
typedef uint16_t Mask;
INSTRUCTION(scaled, V, (V x, V n), scale(x, n))
INSTRUCTION(greater, V, (V a, V b), max(a, b))
INSTRUCTION(less, V, (V a, V b), min(a, b))
INSTRUCTION(load_ints, VI, (Mask mask, const int32_t *p), load(mask, p))
INSTRUCTION(load_halves, VH, (Mask mask, const uint16_t *p), load(mask, p))
INSTRUCTION(load_bytes, VB, (Mask mask, const int8_t *p), load(mask, p))
INSTRUCTION(store_ints, void, (int32_t *p, Mask mask, VI x), store(p, mask, x))
INSTRUCTION(store_halves, void, (uint16_t *p, Mask mask, VH x), store(p, mask, x))
INSTRUCTION(store_bytes, void, (int8_t *p, Mask mask, VB x), store(p, mask, x))
#else
typedef VM Mask;
#endif
INSTRUCTION(load_floats, V, (Mask mask, const float *p), load(mask, p))
INSTRUCTION(store_floats, void, (float *p, Mask mask, V x), store(p, mask, x))
#if BRAID_ISA_BF16
INSTRUCTION(halves, VH, (V x), narrow(x))
#if BRAID_ISA_AVX512
INSTRUCTION(pairs, V, (V sum, VU a, V b), add_pairs(sum, a, b))
#endif
#endif
} // namespace braid
