//===- MatmulCases.h - random matmuls, and what they should give ----------===//
//
// Matrices of small whole numbers, unless a test needs others. Every sum is exact in f32, so unrounded results must
// have equal bits.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TEST_RUNTIME_MATMULCASES_H
#define BRAID_TEST_RUNTIME_MATMULCASES_H

#include "braid_rt.h"

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace braid::test {

struct MatmulCase {
  br_matmul_desc d{};
  int64_t sizeA = 0, sizeB = 0, sizeC = 0, sizeAddend = 0; // elements that the operands reach over
  bool areWhole = true;                                    // the numbers; others are rounded in each sum

  // Each matrix is at the start of its own memory. A transposed matrix has stride 1 in the other dim, and a padded one
  // has gaps between its lines.
  MatmulCase(int64_t m, int64_t n, int64_t k, bool transposedA, bool transposedB, bool transposedC, int64_t pad = 0) {
    d.m = m, d.n = n, d.k = k;
    d.a.type = d.b.type = d.c.type = d.bias_type = BR_F32;
    sizeA = lay(m, k, transposedA, pad, d.a.row_stride, d.a.column_stride);
    sizeB = lay(k, n, transposedB, pad, d.b.row_stride, d.b.column_stride);
    sizeC = lay(m, n, transposedC, pad, d.c.row_stride, d.c.column_stride);
  }
  static int64_t lay(int64_t rows, int64_t columns, bool transposed, int64_t pad, int64_t &byRow, int64_t &byColumn) {
    byRow = transposed ? 1 : columns + pad;
    byColumn = transposed ? rows + pad : 1;
    return transposed ? columns * byColumn : rows * byRow;
  }

  // Adds an outermost loop; all iterations share a shared B. With a gap, the loop's strides do not compose with those
  // of the inner loops.
  MatmulCase &batch(int64_t n, bool sharesB = false, int64_t gap = 0) {
    const int32_t i = d.n_batch++;
    for (int32_t j = i; j > 0; --j)
      d.batch[j] = d.batch[j - 1], d.a.batch_strides[j] = d.a.batch_strides[j - 1],
      d.b.batch_strides[j] = d.b.batch_strides[j - 1], d.c.batch_strides[j] = d.c.batch_strides[j - 1];
    d.batch[0] = n;
    d.a.batch_strides[0] = sizeA + gap, d.b.batch_strides[0] = sharesB ? 0 : sizeB, d.c.batch_strides[0] = sizeC;
    sizeA = (sizeA + gap) * n, sizeB *= sharesB ? 1 : n, sizeC *= n;
    return *this;
  }
  MatmulCase &outer(int64_t n) {
    const int32_t i = d.n_outer++;
    d.outer[i] = n, d.a.outer_strides[i] = sizeA, d.b.outer_strides[i] = sizeB;
    sizeA *= n, sizeB *= n;
    return *this;
  }
  MatmulCase &with(bool bias, bool accumulate, br_epilogue epilogue = BR_EPILOGUE_NONE) {
    d.has_bias = bias, d.accumulate = accumulate, d.epilogue = epilogue;
    return *this;
  }
  // Makes a matmul whose epilogue keeps or reads GELU's input.
  MatmulCase &withAux(bool bias, br_epilogue epilogue, int64_t pad = 0) {
    d.has_aux = 1, d.aux_m = d.n + pad;
    return with(bias, false, epilogue);
  }
  // Makes a matmul that sums A or B for the gradient of a bias.
  MatmulCase &withSum(br_bias_grad of, bool accumulate) {
    d.bias_grad = of;
    return with(false, accumulate);
  }
  // Makes a matmul that adds a tensor in C's order, with gaps of its own. Must come after all batch loops and types.
  MatmulCase &withAddend(bool bias, int64_t pad = 0) {
    d.has_addend = 1, d.addend.type = d.c.type;
    sizeAddend = lay(d.m, d.n, d.c.column_stride != 1, pad, d.addend.row_stride, d.addend.column_stride);
    for (int32_t i = d.n_batch - 1; i >= 0; --i)
      d.addend.batch_strides[i] = sizeAddend, sizeAddend *= d.batch[i];
    return with(bias, false);
  }
  int64_t sizeSum() const { return d.bias_grad == BR_BIAS_GRAD_A ? d.m : d.bias_grad ? d.n : 0; }
  MatmulCase &ofTypes(br_dtype inputs, br_dtype result) {
    d.a.type = d.b.type = inputs, d.c.type = d.bias_type = result;
    return *this;
  }

  std::vector<float> random(int64_t n, unsigned seed) const {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    std::vector<float> v(n);
    for (float &x : v)
      x = areWhole ? static_cast<float>(static_cast<int>(engine() % 9) - 4) : normal(engine);
    return v;
  }
  std::vector<float> a() const { return random(sizeA, 1); }
  std::vector<float> b() const { return random(sizeB, 2); }
  std::vector<float> c() const { return random(sizeC, 3); }
  std::vector<float> bias() const { return random(d.n, 4); }
  std::vector<float> addend() const { return random(sizeAddend, 7); }
  std::vector<float> aux() const { return random(d.has_aux ? d.m * d.aux_m : 0, 5); }

  std::string describe() const {
    auto text = [](int64_t x) { return std::to_string(x); };
    return text(d.m) + " x " + text(d.n) + " x " + text(d.k) + ", A " + text(d.a.row_stride) + " " +
           text(d.a.column_stride) + ", B " + text(d.b.row_stride) + " " + text(d.b.column_stride) + ", C " +
           text(d.c.row_stride) + " " + text(d.c.column_stride) + ", batches " + text(d.n_batch) + ", outer " +
           text(d.n_outer) + ", bias " + text(d.has_bias) + ", accumulate " + text(d.accumulate) + ", addend " +
           text(d.has_addend) + " " + text(d.addend.row_stride) + " " + text(d.addend.column_stride) + ", epilogue " +
           text(d.epilogue) + ", gradient of a bias " + text(d.bias_grad);
  }
};

inline int64_t loopCount(int32_t n, const int64_t *size) {
  int64_t count = 1;
  for (int32_t i = 0; i < n; ++i)
    count *= size[i];
  return count;
}

inline int64_t loopOffset(int64_t index, int32_t n, const int64_t *size, const int64_t *stride) {
  int64_t offset = 0;
  for (int32_t i = n - 1; i >= 0; index /= size[i], --i)
    offset += index % size[i] * stride[i];
  return offset;
}

inline double geluTanh(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
inline double geluSlope(double x) {
  const double h = 1e-5;
  return (geluTanh(x + h) - geluTanh(x - h)) / (2 * h);
}
// Applies an epilogue to one number, except epilogues that read GELU's input.
inline double activation(br_epilogue epilogue, double x) {
  switch (epilogue) {
  case BR_EPILOGUE_GELU_TANH:
    return geluTanh(x);
  case BR_EPILOGUE_GELU_ERF:
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2)));
  case BR_EPILOGUE_SILU:
    return x / (1 + std::exp(-x));
  case BR_EPILOGUE_NONE:
  case BR_EPILOGUE_GELU_TANH_GRAD:
    break;
  }
  return x;
}

// Results of a matmul: all of the memory of C and of GELU's input, including the gaps between rows, and the gradient of
// a bias.
struct Outcome {
  std::vector<float> c, aux, sum;
};

// Computes the results by the definition of br_matmul_desc.
inline Outcome expected(const MatmulCase &p) {
  const br_matmul_desc &d = p.d;
  const std::vector<float> a = p.a(), b = p.b(), bias = p.bias(), addend = p.addend();
  Outcome result = {p.c(), p.aux(), std::vector<float>(p.sizeSum())};
  for (int64_t i = 0; i < p.sizeSum(); ++i)
    for (int64_t l = 0; l < d.k; ++l)
      result.sum[i] += d.bias_grad == BR_BIAS_GRAD_A ? a[i * d.a.row_stride + l * d.a.column_stride]
                                                     : b[l * d.b.row_stride + i * d.b.column_stride];
  for (int64_t item = 0; item < loopCount(d.n_batch, d.batch); ++item)
    for (int64_t i = 0; i < d.m; ++i)
      for (int64_t j = 0; j < d.n; ++j) {
        double sum = d.has_bias ? bias[j] : 0;
        for (int64_t o = 0; o < loopCount(d.n_outer, d.outer); ++o)
          for (int64_t l = 0; l < d.k; ++l)
            sum += double(a[loopOffset(item, d.n_batch, d.batch, d.a.batch_strides) +
                            loopOffset(o, d.n_outer, d.outer, d.a.outer_strides) + i * d.a.row_stride +
                            l * d.a.column_stride]) *
                   b[loopOffset(item, d.n_batch, d.batch, d.b.batch_strides) +
                     loopOffset(o, d.n_outer, d.outer, d.b.outer_strides) + l * d.b.row_stride + j * d.b.column_stride];
        float &out = result.c[loopOffset(item, d.n_batch, d.batch, d.c.batch_strides) + i * d.c.row_stride +
                              j * d.c.column_stride];
        double old = d.accumulate ? out : 0;
        if (d.has_addend)
          old = addend[loopOffset(item, d.n_batch, d.batch, d.addend.batch_strides) + i * d.addend.row_stride +
                       j * d.addend.column_stride];
        if (d.epilogue == BR_EPILOGUE_GELU_TANH_GRAD)
          sum *= geluSlope(result.aux[i * d.aux_m + j]);
        else if (d.has_aux)
          result.aux[i * d.aux_m + j] = static_cast<float>(sum);
        out = static_cast<float>(activation(d.epilogue, sum) + old);
      }
  return result;
}

} // namespace braid::test
#endif // BRAID_TEST_RUNTIME_MATMULCASES_H
