//===- MatmulRest.h - epilogues that cuBLASLt does not compute ------------===//
//
// cuBLASLt has no algorithm for some epilogues of some types, and only the installed library can
// tell which.  Programs therefore contain these kernels for each matmul with an epilogue.  The
// runtime asks the library at start.  If it refuses, the call is a matmul with less of the
// epilogue, or none, and these kernels compute the rest after it:
//
//   finish_elements    adds the bias; stores GELU's input and applies GELU, or
//                      multiplies by GELU's derivative: C is read and written once
//   sum_rows           the gradient of a bias: sums an operand over k, part by part;
//   sum_parts          the partial sums lie in the call's workspace, and are then added
//
// The number of parts depends only on the sizes and on the planned workspace, and all sums have a
// fixed order.  So every run and every GPU gives the same bits.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_MATMULREST_H
#define BRAID_CUDA_MATMULREST_H

#include "cuda/Launch.h"
#include <cuda/Access.h>

#include <algorithm>

namespace braid {

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

inline constexpr int finish_threads = 256, finish_tile = 4 * finish_threads; // columns of a block

struct FinishElements {
  int64_t columns, tiles; // of one row
  int64_t c_m, c_n, aux_m;
  br_epilogue epilogue;
  bool keeps_input;
};

__device__ inline float gelu_tanh_inner(float x) { return ::tanhf(0.7978845608028654f * (x + 0.044715f * x * x * x)); }
__device__ inline float gelu_tanh(float x) { return 0.5f * x * (1.0f + gelu_tanh_inner(x)); }
__device__ inline float gelu_tanh_slope(float x) {
  const float t = gelu_tanh_inner(x);
  return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * 0.7978845608028654f * (1.0f + 0.134145f * x * x);
}

// `bias` is null if it has already been added.
template <class T>
__global__ void __launch_bounds__(finish_threads)
    finish_elements_kernel(FinishElements f, T *c, const T *__restrict__ bias, T *aux) {
  enter_kernel();
  const int64_t row = blockIdx.x / f.tiles, first = blockIdx.x % f.tiles * finish_tile + threadIdx.x;
  for (int64_t column = first; column < f.columns && column < first + finish_tile; column += finish_threads) {
    T *place = c + row * f.c_m + column * f.c_n;
    const int64_t kept = row * f.aux_m + column;
    float x = static_cast<float>(load(place));
    if (bias)
      x += static_cast<float>(load(bias + column));
    if (f.keeps_input)
      store(aux + kept, static_cast<T>(x));
    if (f.epilogue == BR_EPILOGUE_GELU_TANH)
      x = gelu_tanh(x);
    if (f.epilogue == BR_EPILOGUE_GELU_TANH_GRAD)
      x *= gelu_tanh_slope(static_cast<float>(load(aux + kept)));
    store(place, static_cast<T>(x));
  }
}

// Finishes the matrix of C at `c`; a call for a batch has several.
template <class T> void finish_elements(const Memory &m, const br_matmul_rest &rest, T *c) {
  const br_matmul_desc &d = *rest.desc;
  const bool activates = rest.left & BR_REST_ACTIVATION;
  const FinishElements f = {d.n,
                            (d.n + finish_tile - 1) / finish_tile,
                            d.c.row_stride,
                            d.c.column_stride,
                            d.aux_m,
                            activates ? d.epilogue : BR_EPILOGUE_NONE,
                            activates && d.has_aux && d.epilogue == BR_EPILOGUE_GELU_TANH};
  launch(m, d.m * f.tiles, finish_threads, preloaded<finish_elements_kernel<T>>(), f, c,
         static_cast<const T *>(rest.left & BR_REST_BIAS ? rest.bias : nullptr), static_cast<T *>(rest.aux));
}

//===----------------------------------------------------------------------===//
// The gradient of a bias
//===----------------------------------------------------------------------===//

inline constexpr int sum_columns = 32, sum_rows_at_once = 8, sum_threads = sum_columns * sum_rows_at_once;
inline constexpr int64_t sum_min_rows = 64, sum_max_parts = 64; // rows of a part; parts of a sum

// A matrix [rows, columns] whose rows are summed.
struct SumRows {
  int64_t rows, columns, by_row, by_column, part_rows;
  int64_t tiles() const { return (columns + sum_columns - 1) / sum_columns; }
  int64_t parts() const { return (rows + part_rows - 1) / part_rows; }
};

// Splits rows into parts whose f32 sums fit `bytes` of workspace; a single part needs none.
inline SumRows split_rows(int64_t rows, int64_t columns, int64_t by_row, int64_t by_column, uint64_t bytes) {
  const int64_t fit = static_cast<int64_t>(bytes / sizeof(float)) / columns;
  const int64_t parts = std::max<int64_t>(1, std::min({sum_max_parts, fit, rows / sum_min_rows}));
  return {rows, columns, by_row, by_column, (rows + parts - 1) / parts};
}

// A block sums one part's rows in a tile of 32 columns.
template <class In, class Out>
__global__ void __launch_bounds__(sum_threads) sum_rows_kernel(SumRows s, const In *__restrict__ in, Out *out) {
  enter_kernel();
  constexpr int ahead = 8; // loads in flight
  __shared__ float memory[sum_threads];
  const Shared<float, sum_threads> sums(memory);
  const int64_t tiles = (s.columns + sum_columns - 1) / sum_columns, part = blockIdx.x / tiles;
  const int64_t column = blockIdx.x % tiles * sum_columns + threadIdx.x % sum_columns;
  const int64_t end = (part + 1) * s.part_rows < s.rows ? (part + 1) * s.part_rows : s.rows;
  float sum = 0;
  for (int64_t row = part * s.part_rows + threadIdx.x / sum_columns; row < end; row += ahead * sum_rows_at_once) {
    float next[ahead] = {};
    for (int a = 0; a < ahead; ++a) {
      const int64_t at = row + a * sum_rows_at_once;
      if (at < end && column < s.columns)
        next[a] = static_cast<float>(load(in + at * s.by_row + column * s.by_column));
    }
    for (int a = 0; a < ahead; ++a)
      sum += next[a];
  }
  sums.put(threadIdx.x, sum);
  block_barrier();
  if (threadIdx.x >= sum_columns || column >= s.columns)
    return;
  float total = 0;
  for (int i = 0; i < sum_rows_at_once; ++i)
    total += sums.get(i * sum_columns + threadIdx.x);
  store(out + part * s.columns + column, static_cast<Out>(total));
}

template <class Out>
__global__ void __launch_bounds__(sum_threads)
    sum_parts_kernel(int64_t parts, int64_t columns, const float *__restrict__ in, Out *out) {
  enter_kernel();
  const int64_t column = static_cast<int64_t>(blockIdx.x) * sum_threads + threadIdx.x;
  if (column >= columns)
    return;
  float total = 0;
  for (int64_t part = 0; part < parts; ++part)
    total += load(in + part * columns + column);
  store(out + column, static_cast<Out>(total));
}

template <class Out, class In> void sum_operand(const Memory &m, const br_matmul_rest &rest) {
  const br_matmul_desc &d = *rest.desc;
  const bool ofA = d.bias_grad == BR_BIAS_GRAD_A;
  const SumRows s = ofA ? split_rows(d.k, d.m, d.a.column_stride, d.a.row_stride, d.workspace_bytes)
                        : split_rows(d.k, d.n, d.b.row_stride, d.b.column_stride, d.workspace_bytes);
  const In *operand = static_cast<const In *>(ofA ? rest.a : rest.b);
  Out *out = static_cast<Out *>(rest.bias_grad);
  float *parts = static_cast<float *>(rest.workspace);
  if (s.parts() == 1)
    return launch(m, s.tiles(), sum_threads, preloaded<sum_rows_kernel<In, Out>>(), s, operand, out);
  launch(m, s.tiles() * s.parts(), sum_threads, preloaded<sum_rows_kernel<In, float>>(), s, operand, parts);
  launch(m, (s.columns + sum_threads - 1) / sum_threads, sum_threads, preloaded<sum_parts_kernel<Out>>(), s.parts(),
         s.columns, static_cast<const float *>(parts), out);
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

// Computes the rest of the previous matmul's epilogue, if any; that matmul multiplies In into Out.
template <class Out, class In> void finish_matmul(const Memory &m) {
  const br_matmul_rest *rest = br_cuda_matmul_rest(m.context());
  if (!rest)
    return;
  if (rest->left & BR_REST_BIAS_GRAD)
    sum_operand<Out, In>(m, *rest);
  if (!(rest->left & (BR_REST_BIAS | BR_REST_ACTIVATION)))
    return;
  const br_matmul_desc &d = *rest->desc;
  int64_t matrices = 1;
  for (int32_t i = 0; i < d.n_batch; ++i)
    matrices *= d.batch[i];
  for (int64_t matrix = 0; matrix < matrices; ++matrix) {
    int64_t at = 0, index = matrix;
    for (int32_t i = d.n_batch - 1; i >= 0; index /= d.batch[i], --i)
      at += index % d.batch[i] * d.c.batch_strides[i];
    finish_elements(m, *rest, static_cast<Out *>(rest->c) + at);
  }
}

} // namespace braid
#endif // BRAID_CUDA_MATMULREST_H
