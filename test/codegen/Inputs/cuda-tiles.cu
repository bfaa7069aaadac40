// The kernels of attention by tiles, of small and large heads.
#include "cuda/AttentionTiles.h"

#include <cuda_bf16.h>

using namespace braid;

template <class T, int D, bool Capped> static void both(const Memory &m, const br_attention_desc &d) {
  attention<T, D, Capped>(m, d, m[0], m[0], m[0], m[0], m[0]);
  attention_grad<T, D, Capped>(m, d, m[0], m[0], m[0], m[0], m[0], m[0], m[0], m[0], m[0]);
}

void every_kernel(const Memory &m, const br_attention_desc &d) {
  both<float, 20, true>(m, d);
  both<__nv_bfloat16, 128, false>(m, d);
}
