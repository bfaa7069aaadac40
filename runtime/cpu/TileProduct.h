//===- TileProduct.h - products of small matrices in the caches -----------===//
//
// C = A B, or C += A B, for tiles that a kernel has packed: B and C are rows of whole vectors, A is
// read an element at a time, so it may be a transposed one.  A block of R rows and up to N vectors
// of C stays in registers while the terms of its sums go by, in their order.
//
// C is f32.  A and B are f32, or pairs of bf16 that follow each other along the sums, where the
// processor has an instruction that adds both products (AVX512_BF16): a pair is one element here.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_TILEPRODUCT_H
#define BRAID_CPU_TILEPRODUCT_H

#include "LaneMath.h"

#if defined(__AVX512BF16__) && BRAID_ISA_AVX512
#define BRAID_PAIR_PRODUCTS 1
#endif

namespace braid {

// The rows and the most vectors of a block: with AVX-512 there are 32 registers, else 16.
constexpr int kBlockRows = 4;
#if BRAID_ISA_AVX512
constexpr int kBlockVectors = 4;
#else
constexpr int kBlockVectors = 3;
#endif

// [begin, end).
struct Range {
  int64_t begin, end;
};

// Element (i, k) is at[i * row + k * column].
template <class E> struct TileFactor {
  const E *at;
  int64_t row, column;
};

// Sum: C += A B.  Fresh: C is the product, times a factor.
enum class Into { Fresh, Sum };

// Two numbers of bf16, the first of which has the lower bits.
struct BfPair {
  uint32_t bits;
};

namespace detail {
inline V ld_terms(const float *p) { return ld(p); }
inline V add_product(float a, V b, V sum) { return madd(splat(a), b, sum); }
#ifdef BRAID_PAIR_PRODUCTS
inline V ld_terms(const BfPair *p) { return ld(reinterpret_cast<const float *>(p)); }
inline V add_product(BfPair a, V b, V sum) { return x86::add_pairs(sum, a.bits + VU{}, b); }
#endif

// Stays in a register: compilers like to load an operand again in each instruction that takes it.
inline void hold(V &x) {
#if BRAID_ISA_AVX512 || BRAID_ISA_AVX2 || (BRAID_LANES == 4 && defined(__SSE2__))
  asm("" : "+v"(x));
#else
  (void)x;
#endif
}

// Rows [0, kBlockRows) and columns [0, N * W) of C, whose rows are `width` apart, as are B's.
template <int N, Into How, class E>
inline void block_product(TileFactor<E> a, const E *b, int64_t b_width, float *c, int64_t c_width, Range terms,
                          float scale) {
  V sum[kBlockRows][N];
#pragma GCC unroll 4
  for (int i = 0; i < kBlockRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j)
      sum[i][j] = How == Into::Sum ? ld(c + i * c_width + j * W) : V{};
  for (int64_t k = terms.begin; k < terms.end; ++k) {
    V row[N];
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j)
      hold(row[j] = ld_terms(b + k * b_width + j * W));
#pragma GCC unroll 4
    for (int i = 0; i < kBlockRows; ++i) {
      const E factor = a.at[i * a.row + k * a.column];
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j)
        sum[i][j] = add_product(factor, row[j], sum[i][j]);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kBlockRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j)
      st(c + i * c_width + j * W, How == Into::Fresh ? sum[i][j] * scale : sum[i][j]);
}

// All rows of N vectors.
template <int N, Into How, class E, class Terms>
inline void panel_product(TileFactor<E> a, const E *b, int64_t b_width, float *c, int64_t c_width, int64_t rows,
                          int64_t column, const Terms &terms, float scale) {
  for (int64_t i = 0; i < rows; i += kBlockRows) {
    const Range range = terms(Range{i, i + kBlockRows}, Range{column, column + N * W});
    if (How == Into::Fresh || range.begin < range.end)
      block_product<N, How>(TileFactor<E>{a.at + i * a.row, a.row, a.column}, b + column, b_width,
                            c + i * c_width + column, c_width, range, scale);
  }
}
} // namespace detail

// `rows` x (`vectors` W) elements of C; rows up to a multiple of kBlockRows are written.
// `terms(rows, columns)` says which terms a block of C has.
template <Into How, class E, class Terms>
inline void tile_product(TileFactor<E> a, const E *b, int64_t b_width, float *c, int64_t c_width, int64_t rows,
                         int64_t vectors, const Terms &terms, float scale = 1) {
  static_assert(kBlockVectors == 3 || kBlockVectors == 4);
  int64_t v = 0;
  // Not 3 and 1 where 2 and 2 will do.
  for (; vectors - v >= kBlockVectors && vectors - v != kBlockVectors + 1; v += kBlockVectors)
    detail::panel_product<kBlockVectors, How>(a, b, b_width, c, c_width, rows, v * W, terms, scale);
  for (; vectors - v >= 2; v += 2)
    detail::panel_product<2, How>(a, b, b_width, c, c_width, rows, v * W, terms, scale);
  if (v < vectors)
    detail::panel_product<1, How>(a, b, b_width, c, c_width, rows, v * W, terms, scale);
}

} // namespace braid
#endif // BRAID_CPU_TILEPRODUCT_H
