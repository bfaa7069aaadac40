//===- MatmulLoops.cpp - matmuls without oneDNN ---------------------------===//
//
// oneDNN multiplies bf16 only with avx512. On other processors these loops do, so that a model compiled in
// bf16 runs everywhere, but slowly.
//
//===----------------------------------------------------------------------===//

#include "cpu/Matmul.h"

#include "base/NumberTypes.h"
#include "host/Threads.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <dnnl.hpp>
#include <vector>

using namespace braid;

static bool hasIsa(dnnl::cpu_isa isa) {
  const int needed = static_cast<int>(isa);
  return (static_cast<int>(dnnl::get_effective_cpu_isa()) & needed) == needed;
}

bool braid::multipliesBFloat16() { return hasIsa(dnnl::cpu_isa::avx512_core); }
bool braid::multipliesBFloat16Fast() { return hasIsa(dnnl::cpu_isa::avx512_core_bf16); } // amx includes it

namespace {

// Reads `count` numbers of a row or column of a matrix as f32.
void read(br_dtype type, const char *from, int64_t step, int64_t count, float *to) {
  if (type == BR_F32) {
    const float *values = reinterpret_cast<const float *>(from);
    for (int64_t i = 0; i < count; ++i)
      to[i] = values[i * step];
    return;
  }
  const uint16_t *bits = reinterpret_cast<const uint16_t *>(from);
  for (int64_t i = 0; i < count; ++i)
    to[i] = fromBFloat16(bits[i * step]);
}

float dot(const float *x, const float *y, int64_t count) {
  constexpr int lanes = 8; // independent sums, which the compiler vectorizes
  float sums[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int l = 0; l < lanes; ++l)
      sums[l] += x[i + l] * y[i + l];
  for (; i < count; ++i)
    sums[0] += x[i] * y[i];
  float sum = 0;
  for (float part : sums)
    sum += part;
  return sum;
}

float activate(br_epilogue epilogue, float x) {
  switch (epilogue) {
  case BR_EPILOGUE_GELU_TANH:
    return 0.5f * x * (1 + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
  case BR_EPILOGUE_GELU_ERF:
    return 0.5f * x * (1 + std::erf(x * 0.70710678f));
  case BR_EPILOGUE_SILU:
    return x / (1 + std::exp(-x));
  default:
    return x;
  }
}

int64_t product(int32_t count, const int64_t *sizes) {
  int64_t all = 1;
  for (int32_t i = 0; i < count; ++i)
    all *= sizes[i];
  return all;
}

// Returns the offset of iteration `index` of the nested loops; the last loop is the innermost.
int64_t offsetOf(int64_t index, int32_t count, const int64_t *sizes, const int64_t *strides) {
  int64_t offset = 0;
  for (int32_t i = count - 1; i >= 0; --i) {
    offset += index % sizes[i] * strides[i];
    index /= sizes[i];
  }
  return offset;
}

// Computes one row of C at a time in its own memory.
class RowLoop {
public:
  RowLoop(const br_matmul_desc &d, const char *a, const char *b, char *c, const char *bias)
      : d(d), a(a), b(b), c(c), bias(bias), left(d.k), right(d.b.row_stride == 1 ? d.k : d.n), sums(d.n) {}

  void run(int64_t item, int64_t row);

private:
  void addMatmul(const char *aRow, const char *bItem);

  const br_matmul_desc &d;
  const char *a, *b;
  char *c;
  const char *bias;
  std::vector<float> left, right, sums;
};

} // namespace

void RowLoop::addMatmul(const char *aRow, const char *bItem) {
  const int64_t size = elementSize(d.b.type);
  read(d.a.type, aRow, d.a.column_stride, d.k, left.data());
  if (d.b.row_stride == 1) {
    for (int64_t n = 0; n < d.n; ++n) {
      read(d.b.type, bItem + n * d.b.column_stride * size, 1, d.k, right.data());
      sums[n] += dot(left.data(), right.data(), d.k);
    }
    return;
  }
  for (int64_t k = 0; k < d.k; ++k) {
    read(d.b.type, bItem + k * d.b.row_stride * size, d.b.column_stride, d.n, right.data());
    for (int64_t n = 0; n < d.n; ++n)
      sums[n] += left[k] * right[n];
  }
}

void RowLoop::run(int64_t item, int64_t row) {
  if (bias)
    read(d.bias_type, bias, 1, d.n, sums.data());
  else
    std::fill(sums.begin(), sums.end(), 0.0f);
  const char *aRow =
      a + elementSize(d.a.type) * (offsetOf(item, d.n_batch, d.batch, d.a.batch_strides) + row * d.a.row_stride);
  const char *bItem = b + elementSize(d.b.type) * offsetOf(item, d.n_batch, d.batch, d.b.batch_strides);
  for (int64_t j = 0; j < product(d.n_outer, d.outer); ++j)
    addMatmul(aRow + elementSize(d.a.type) * offsetOf(j, d.n_outer, d.outer, d.a.outer_strides),
              bItem + elementSize(d.b.type) * offsetOf(j, d.n_outer, d.outer, d.b.outer_strides));
  const int64_t size = elementSize(d.c.type);
  char *cRow = c + size * (offsetOf(item, d.n_batch, d.batch, d.c.batch_strides) + row * d.c.row_stride);
  for (int64_t n = 0; n < d.n; ++n) {
    char *place = cRow + n * d.c.column_stride * size;
    float value = activate(d.epilogue, sums[n]), old = 0;
    if (d.accumulate)
      read(d.c.type, place, 1, 1, &old);
    putNumber(d.c.type, reinterpret_cast<std::byte *>(place), value + old);
  }
}

void braid::multiplyByLoops(const br_matmul_desc &d, int threads, const char *a, const char *b, char *c,
                            const char *bias) {
  parallelRanges(threads, product(d.n_batch, d.batch) * d.m, [&](int, int64_t begin, int64_t end) {
    RowLoop loop(d, a, b, c, d.has_bias ? bias : nullptr);
    for (int64_t i = begin; i < end; ++i)
      loop.run(i / d.m, i % d.m);
  });
}
