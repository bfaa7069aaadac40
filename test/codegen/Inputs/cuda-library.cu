// Every kernel of the runtime that programs call, of every type that they call it with.
#include "cuda/Blocks.h"
#include "cuda/Gather.h"
#include "cuda/MatmulRest.h"

#include <cuda_bf16.h>

using namespace braid;

template <class T> static void rows(const Memory &m) {
  gather<T>(m, 4, 5, 8, m[0], m[256], m[512]);
  scatter_add<T>(m, 4, 5, 8, m[256], m[0], 1, m[512], m[1024]);
}

void every_kernel(const Memory &m) {
  rows<float>(m);
  rows<double>(m);
  rows<__nv_bfloat16>(m);
  scatter_add<float, __nv_bfloat16>(m, 4, 5, 8, m[256], m[0], 0, m[512], m[1024]);
  finish_matmul<float, float>(m);
  finish_matmul<float, __nv_bfloat16>(m);
  finish_matmul<__nv_bfloat16, __nv_bfloat16>(m);
  copy_block(m, {4, 2, {3, 2}, {6, 1}, {2, 1}}, m[0], 0, m[256], 0);
  take_range(m, m[0], 10, 1, 3, m[256]);
  put_range(m, m[0], 1, 3, m[256], 10);
  axis_index(m, 1, m[0]);
}
