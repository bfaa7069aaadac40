//===- LtMatmul.cpp - one matmul ------------------------------------------===//
#include "LtMatmul.h"

#include "Allocations.h"
#include "Violation.h"
#include "cuda_bf16.h"

#include <cmath>
#include <cstring>

using namespace shim;

namespace {

float get(const char *base, cudaDataType type, int64_t i) {
  return type == CUDA_R_16BF ? float(reinterpret_cast<const __nv_bfloat16 *>(base)[i])
                             : reinterpret_cast<const float *>(base)[i];
}
void put(char *base, cudaDataType type, int64_t i, float value) {
  if (type == CUDA_R_16BF)
    reinterpret_cast<__nv_bfloat16 *>(base)[i] = __nv_bfloat16(value);
  else
    reinterpret_cast<float *>(base)[i] = value;
}

constexpr float scale = 0.7978845608028654f, cubic = 0.044715f;
float gelu(float x) { return 0.5f * x * (1 + std::tanh(scale * (x + cubic * x * x * x))); }
float geluGrad(float x) {
  float t = std::tanh(scale * (x + cubic * x * x * x));
  return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * scale * (1 + 3 * cubic * x * x);
}

// Returns the matrix as floats, with op applied: rows of k elements.
std::vector<float> packed(const char *base, const cublasLtMatrixLayoutShim &layout, bool rowsAreColumns) {
  std::vector<float> values(layout.rows * layout.columns);
  for (int64_t j = 0; j < layout.columns; ++j)
    for (int64_t i = 0; i < layout.rows; ++i)
      values[rowsAreColumns ? j * layout.rows + i : i * layout.columns + j] = get(base, layout.type, j * layout.ld + i);
  return values;
}

void appendColumns(std::vector<std::pair<const void *, size_t>> &pieces, const char *base, int64_t rows,
                   int64_t columns, int64_t ld, size_t size) {
  if (ld == rows)
    pieces.emplace_back(base, rows * columns * size);
  else
    for (int64_t j = 0; j < columns; ++j)
      pieces.emplace_back(base + j * ld * size, rows * size);
}

void appendMatrix(std::vector<std::pair<const void *, size_t>> &pieces, const char *base,
                  const cublasLtMatrixLayoutShim &layout) {
  for (int32_t batch = 0; batch < (layout.stride ? layout.batch : 1); ++batch)
    appendColumns(pieces, base + batch * layout.stride * sizeOf(layout.type), layout.rows, layout.columns, layout.ld,
                  sizeOf(layout.type));
}

} // namespace

size_t shim::sizeOf(cudaDataType type) { return type == CUDA_R_16BF ? 2 : 4; }

// Applies the epilogue to an element after its sum.
void LtMatmul::finish(int64_t row, int64_t column, float sum, char *out, const char *addend) const {
  int64_t at = column * c.ld + row;
  float value = alpha * sum;
  if (beta != 0)
    value += beta * get(addend, old.type, column * old.ld + row);
  if (has(CUBLASLT_EPILOGUE_BIAS))
    value += get(static_cast<const char *>(desc.bias), biasType(), row);
  char *aux = static_cast<char *>(desc.aux);
  if (has(CUBLASLT_EPILOGUE_GELU_AUX))
    put(aux, c.type, column * desc.auxLd + row, value);
  if (has(CUBLASLT_EPILOGUE_GELU))
    value = gelu(value);
  if (has(CUBLASLT_EPILOGUE_DGELU))
    value *= geluGrad(get(aux, c.type, column * desc.auxLd + row));
  put(out, c.type, at, value);
}

void LtMatmul::runBatch(int32_t batch) const {
  std::vector<float> left = packed(pa + batch * a.stride * sizeOf(a.type), a, desc.transA != CUBLAS_OP_N);
  std::vector<float> right = packed(pb + batch * b.stride * sizeOf(b.type), b, desc.transB == CUBLAS_OP_N);
  size_t offset = batch * c.stride * sizeOf(c.type), oldOffset = batch * old.stride * sizeOf(old.type);
  constexpr int lanes = 8;
  for (int64_t j = 0; j < n(); ++j)
    for (int64_t i = 0; i < m(); ++i) {
      const float *x = left.data() + i * k(), *y = right.data() + j * k();
      float total = 0;
      for (int32_t part = 0; part < splits; ++part) {
        double sums[lanes] = {};
        int64_t l = k() * part / splits;
        const int64_t end = k() * (part + 1) / splits;
        for (; l + lanes <= end; l += lanes)
          for (int t = 0; t < lanes; ++t)
            sums[t] += double(x[l + t]) * y[l + t];
        for (; l < end; ++l)
          sums[0] += double(x[l]) * y[l];
        double sum = 0;
        for (double one : sums)
          sum += one;
        total += float(sum);
      }
      finish(i, j, total, pd + offset, pc + oldOffset);
    }
}

// Computes the gradient of a bias: the sums of an operand over k, which replace the old values.
void LtMatmul::sumOperand() const {
  bool ofA = has(CUBLASLT_EPILOGUE_BGRADA);
  std::vector<float> values =
      ofA ? packed(pa, a, desc.transA != CUBLAS_OP_N) : packed(pb, b, desc.transB == CUBLAS_OP_N);
  for (int64_t i = 0; i < summed(); ++i) {
    double sum = 0;
    for (int64_t l = 0; l < k(); ++l)
      sum += values[i * k() + l];
    put(static_cast<char *>(desc.bias), biasType(), i, float(sum));
  }
}

void LtMatmul::check(const Pieces &reads, const Pieces &writes) const {
  for (auto *pieces : {&reads, &writes})
    for (auto [pointer, bytes] : *pieces) {
      Allocation *allocation = findAllocation(pointer);
      if (!allocation || allocation->device < 0 || !allocation->holds(pointer, bytes))
        violation(format("matmul of %zu bytes that are not device memory", bytes), false);
      size_t offset = static_cast<const char *>(pointer) - allocation->base;
      if (pieces == &writes)
        continue;
      if (size_t first = allocation->shadow->unwritten(offset, bytes); first < bytes)
        violation(format("matmul of memory that was never written, at byte %zu of allocation %d", offset + first,
                         allocation->id),
                  false);
    }
  for (auto [pointer, bytes] : writes) {
    Allocation *allocation = findAllocation(pointer);
    allocation->shadow->written(static_cast<const char *>(pointer) - allocation->base, bytes);
  }
}

void LtMatmul::run(const Issue &issue) const {
  std::string action = std::to_string(issue.action.index);
  launchName = {"cublasLtMatmul", issue.action.index < 0 ? nullptr : action.c_str()};
  Pieces reads, writes;
  appendMatrix(reads, pa, a);
  appendMatrix(reads, pb, b);
  if (beta != 0)
    appendMatrix(reads, pc, old);
  if (has(CUBLASLT_EPILOGUE_BIAS))
    reads.emplace_back(desc.bias, m() * sizeOf(biasType()));
  if (summed())
    writes.emplace_back(desc.bias, summed() * sizeOf(biasType()));
  if (has(128)) // an aux matrix, written forward and read backward
    appendColumns(has(CUBLASLT_EPILOGUE_DGELU) ? reads : writes, static_cast<char *>(desc.aux), m(), n(), desc.auxLd,
                  sizeOf(c.type));
  appendMatrix(writes, pd, c);
  if (workspaceBytes)
    writes.emplace_back(workspace, workspaceBytes);
  check(reads, writes);
  if (workspaceBytes)
    std::memset(workspace, 0xff, workspaceBytes); // whatever was there is gone
  for (int32_t batch = 0; batch < c.batch; ++batch)
    runBatch(batch);
  if (summed())
    sumOperand();
  launchName = {};
  if (tracing())
    Line(issue, "matmul")
        .field("multiprocessors", desc.multiprocessors)
        .pieces("reads", reads)
        .pieces("writes", writes)
        .write(issue.owner);
}
