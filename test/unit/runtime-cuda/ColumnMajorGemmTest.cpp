//===- ColumnMajorGemmTest.cpp - row-major matmuls, column-major ----------===//

#include "gpu/ColumnMajorGemm.h"

#include "../runtime/MatmulCases.h"
#include "base/Error.h"

#include <gtest/gtest.h>

using namespace braid;
using namespace braid::test;

namespace {

// A minimal column-major library: computes from the layouts what cuBLASLt computes.
float at(const ColumnMatrix &m, const std::vector<float> &memory, int64_t offset, int64_t row, int64_t column) {
  if (m.transposed)
    std::swap(row, column);
  EXPECT_TRUE(row < m.rows && column < m.columns && m.rows <= m.ld);
  return memory.at(offset + column * m.ld + row);
}

std::vector<float> multiply(const MatmulCase &problem) {
  const ColumnMajorGemm p(problem.d, "matmul 0");
  const std::vector<float> a = p.swapped ? problem.b() : problem.a(), b = p.swapped ? problem.a() : problem.b();
  std::vector<float> c = problem.c();
  for (int64_t item = 0; item < countOf(p.loops); ++item)
    for (int64_t in = 0; in < p.batch; ++in)
      for (int64_t row = 0; row < p.m; ++row)
        for (int64_t column = 0; column < p.n; ++column) {
          const ColumnOffsets place = offsetsOf(p.loops, item);
          float sum = 0;
          for (int64_t step = 0; step < countOf(p.outer); ++step) {
            const ColumnOffsets part = offsetsOf(p.outer, step);
            for (int64_t l = 0; l < p.k; ++l)
              sum += at(p.a, a, place.a + part.a + in * p.a.batchStride, row, l) *
                     at(p.b, b, place.b + part.b + in * p.b.batchStride, l, column);
          }
          c.at(place.c + in * p.c.batchStride + column * p.c.ld + row) = sum;
        }
  return c;
}

TEST(ColumnMajorGemm, everyLayout) {
  for (int bits = 0; bits < 8; ++bits)
    for (int64_t pad : {0, 5}) {
      const MatmulCase p(7, 5, 6, bits & 1, bits & 2, bits & 4, pad);
      EXPECT_EQ(multiply(p), expected(p).c) << p.describe();
    }
}

TEST(ColumnMajorGemm, sizesOfOne) {
  for (int64_t m : {1, 3})
    for (int64_t n : {1, 3})
      for (int64_t k : {1, 3})
        for (int bits = 0; bits < 8; ++bits)
          for (int64_t pad : {0, 2}) {
            const MatmulCase p(m, n, k, bits & 1, bits & 2, bits & 4, pad);
            EXPECT_EQ(multiply(p), expected(p).c) << p.describe();
          }
}

// The linear layer of the header comment.
TEST(ColumnMajorGemm, swapsRowMajorMatmuls) {
  const ColumnMajorGemm p(MatmulCase(16, 12, 8, false, true, false).d, "matmul 0");
  EXPECT_TRUE(p.swapped);
  EXPECT_EQ(p.m, 12);
  EXPECT_EQ(p.n, 16);
  EXPECT_TRUE(p.a.transposed);
  EXPECT_EQ(p.a.rows, 8);
  EXPECT_EQ(p.a.ld, 8);
  EXPECT_FALSE(p.b.transposed);
  EXPECT_EQ(p.b.rows, 8);
  EXPECT_EQ(p.c.ld, 12);
}

TEST(ColumnMajorGemm, leavesColumnMajorMatmuls) {
  const ColumnMajorGemm p(MatmulCase(16, 12, 8, false, true, true).d, "matmul 0");
  EXPECT_FALSE(p.swapped);
  EXPECT_EQ(p.m, 16);
  EXPECT_TRUE(p.a.transposed);
  EXPECT_EQ(p.c.ld, 16);
}

TEST(ColumnMajorGemm, mergesLoopsWhoseStridesCompose) {
  const MatmulCase merged = MatmulCase(4, 3, 2, false, false, false).batch(5).batch(6);
  ColumnMajorGemm one(merged.d, "matmul 0");
  EXPECT_EQ(one.batch, 30);
  EXPECT_TRUE(one.loops.empty());
  EXPECT_EQ(multiply(merged), expected(merged).c);

  const MatmulCase gaps = MatmulCase(4, 3, 2, false, false, false).batch(5).batch(6, false, 1);
  ColumnMajorGemm two(gaps.d, "matmul 0");
  EXPECT_EQ(two.batch, 6); // the longer one is the library's
  ASSERT_EQ(two.loops.size(), 1u);
  EXPECT_EQ(two.loops[0].size, 5);
  EXPECT_EQ(multiply(gaps), expected(gaps).c);

  const MatmulCase shared = MatmulCase(4, 3, 2, true, false, true).batch(5, true).batch(1).batch(3);
  EXPECT_EQ(multiply(shared), expected(shared).c);
}

TEST(ColumnMajorGemm, outerLoops) {
  const MatmulCase p = MatmulCase(4, 3, 2, true, false, false).outer(3).outer(2).batch(3);
  EXPECT_EQ(multiply(p), expected(p).c);
}

// Heads side by side in a wider matrix: interleaved matmuls.
TEST(ColumnMajorGemm, headsOfAnAttentionLayer) {
  MatmulCase p(5, 7, 4, false, true, false);
  const int64_t heads = 3, width = 4 * heads, batches = 2;
  p.d.a.row_stride = p.d.b.column_stride = width;
  p.d.n_batch = 2;
  const int64_t sizes[] = {batches, heads}, a[] = {5 * width, 4}, b[] = {7 * width, 4}, c[] = {heads * 35, 35};
  for (int i = 0; i < 2; ++i)
    p.d.batch[i] = sizes[i], p.d.a.batch_strides[i] = a[i], p.d.b.batch_strides[i] = b[i],
    p.d.c.batch_strides[i] = c[i];
  p.sizeA = batches * 5 * width, p.sizeB = batches * 7 * width, p.sizeC = batches * heads * 35;
  EXPECT_EQ(ColumnMajorGemm(p.d, "matmul 0").batch, heads);
  EXPECT_EQ(multiply(p), expected(p).c);
}

std::string refusal(const br_matmul_desc &d) {
  try {
    ColumnMajorGemm(d, "matmul 3");
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(ColumnMajorGemm, refusesWhatIsNoMatrix) {
  MatmulCase both(4, 3, 2, false, false, false);
  both.d.a.column_stride = 2, both.d.a.row_stride = 4;
  EXPECT_EQ(refusal(both.d), "matmul 3: A, 4 x 2, has strides 4 and 2; cuBLASLt takes matrices with one stride of 1, "
                             "where the other is at least that dim's size");
  MatmulCase overlapping(4, 3, 2, false, false, false);
  overlapping.d.c.row_stride = 2;
  EXPECT_NE(refusal(overlapping.d).find("has strides"), std::string::npos);
  MatmulCase empty(4, 3, 2, false, false, false);
  empty.d.k = 0;
  EXPECT_NE(refusal(empty.d).find("sizes must be positive"), std::string::npos);
}

} // namespace
