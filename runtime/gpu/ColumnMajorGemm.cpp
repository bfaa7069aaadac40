//===- ColumnMajorGemm.cpp - a GEMM in column-major terms -----------------===//

#include "gpu/ColumnMajorGemm.h"

#include "base/Error.h"
#include "gpu/Vendor.h"

#include <algorithm>
#include <climits>
#include <utility>

using namespace braid;

namespace {

// A matrix in Braid's convention.  The stride of a dim of size 1 has no meaning.
struct Strided {
  const char *name;
  br_dtype type;
  int64_t rows, columns, byRow, byColumn;

  bool isColumnMajor() const { return (byRow == 1 || rows == 1) && (columns == 1 || byColumn >= rows); }
  Strided transposed() const { return {name, type, columns, rows, byColumn, byRow}; }
  bool isRowMajor() const { return transposed().isColumnMajor(); }
};

void check(const Strided &m, const std::string &where) {
  if (!m.isColumnMajor() && !m.isRowMajor())
    fail(where, ": ", m.name, ", ", m.rows, " x ", m.columns, ", has strides ", m.byRow, " and ", m.byColumn, "; ",
         vendor.gemm, " takes matrices with one stride of 1, where the other is at least that dim's size");
}

// The matrix as it lies in memory: column-major as it is, or its transpose.
ColumnMatrix columnsOf(const Strided &m) {
  const bool transposed = !m.isColumnMajor();
  const Strided memory = transposed ? m.transposed() : m;
  return {memory.type, memory.rows, memory.columns, memory.columns == 1 ? memory.rows : memory.byColumn, transposed, 0};
}

// Appends an inner loop; merges it with the last loop if their strides compose.
void append(std::vector<ColumnLoop> &loops, ColumnLoop inner) {
  if (inner.size == 1)
    return;
  ColumnLoop *last = loops.empty() ? nullptr : &loops.back();
  if (last && last->a == inner.a * inner.size && last->b == inner.b * inner.size && last->c == inner.c * inner.size &&
      last->addend == inner.addend * inner.size)
    *last = {last->size * inner.size, inner.a, inner.b, inner.c, inner.addend};
  else
    loops.push_back(inner);
}

} // namespace

ColumnMajorGemm::ColumnMajorGemm(const br_matmul_desc &d, const std::string &where) : m(d.m), n(d.n), k(d.k) {
  for (int64_t size : {m, n, k})
    if (size <= 0 || size > INT_MAX)
      fail(where, ": sizes must be positive and fit 32 bits");
  Strided left = {"A", d.a.type, m, k, d.a.row_stride, d.a.column_stride},
          right = {"B", d.b.type, k, n, d.b.row_stride, d.b.column_stride};
  Strided result = {"C", d.c.type, m, n, d.c.row_stride, d.c.column_stride};
  const br_matrix &added = d.has_addend ? d.addend : d.c;
  Strided addition = {"the addend", added.type, m, n, added.row_stride, added.column_stride};
  for (const Strided &matrix : {left, right, result, addition})
    check(matrix, where);
  swapped = result.isRowMajor();
  if (swapped) {
    std::swap(m, n);
    std::swap(left, right);
    left = left.transposed(), right = right.transposed();
    result = result.transposed(), addition = addition.transposed();
  }
  if (!addition.isColumnMajor())
    fail(where, ": adds a ", swapped ? "column" : "row", "-major matrix to a ", swapped ? "row" : "column",
         "-major C; ", vendor.gemm, " takes both in one order");
  a = columnsOf(left), b = columnsOf(right), c = columnsOf(result), addend = columnsOf(addition);

  auto loop = [&](int64_t size, int64_t ofA, int64_t ofB, int64_t ofC, int64_t ofAddend) {
    return swapped ? ColumnLoop{size, ofB, ofA, ofC, ofAddend} : ColumnLoop{size, ofA, ofB, ofC, ofAddend};
  };
  for (int32_t i = 0; i < d.n_batch; ++i)
    append(loops,
           loop(d.batch[i], d.a.batch_strides[i], d.b.batch_strides[i], d.c.batch_strides[i], added.batch_strides[i]));
  for (int32_t i = 0; i < d.n_outer; ++i)
    append(outer, loop(d.outer[i], d.a.outer_strides[i], d.b.outer_strides[i], 0, 0));

  auto longest = std::max_element(loops.begin(), loops.end(),
                                  [](const ColumnLoop &x, const ColumnLoop &y) { return x.size < y.size; });
  if (longest == loops.end())
    return;
  if (longest->size > INT_MAX)
    fail(where, ": a batch of ", longest->size, " GEMMs does not fit 32 bits");
  batch = longest->size;
  a.batchStride = longest->a, b.batchStride = longest->b, c.batchStride = longest->c;
  addend.batchStride = longest->addend;
  loops.erase(longest);
}

ColumnOffsets braid::offsetsOf(const std::vector<ColumnLoop> &loops, int64_t index) {
  ColumnOffsets offsets;
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    const int64_t at = index % loop->size;
    index /= loop->size;
    offsets.a += at * loop->a, offsets.b += at * loop->b, offsets.c += at * loop->c;
    offsets.addend += at * loop->addend;
  }
  return offsets;
}

int64_t braid::countOf(const std::vector<ColumnLoop> &loops) {
  int64_t count = 1;
  for (const ColumnLoop &loop : loops)
    count *= loop.size;
  return count;
}
