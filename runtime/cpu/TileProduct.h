//===- TileProduct.h - products of small matrices in caches ---------------===//
//
// Computes C = A B, or C += A B, for tiles that a kernel has packed: B and C have rows of whole vectors; A
// is read one element at a time, so it may be transposed. A block of R rows and up to N vectors of C stays
// in registers while the terms of its sums are added in order.
//
// C is f32. A and B are f32, or pairs of bf16 along the sum if the processor has an instruction that adds
// both products (AVX512_BF16): here, a pair is one element.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_TILEPRODUCT_H
#define BRAID_CPU_TILEPRODUCT_H

#include "LaneMath.h"

#if defined(__AVX512BF16__) && BRAID_ISA_AVX512
#define BRAID_PAIR_PRODUCTS 1
#endif

namespace braid {

// Rows, and maximum number of vectors, of a block: AVX-512 has 32 registers, other targets have 16.
constexpr int kBlockRows = 4;
#if BRAID_ISA_AVX512
constexpr int kBlockVectors = 4;
#else
constexpr int kBlockVectors = 3;
#endif

// The half-open range [begin, end).
struct Range {
  int64_t begin, end;
};

// Element (i, k) is at[i * row + k * column].
template <class E> struct TileFactor {
  const E *at;
  int64_t row, column;
};

// Sum: C += A B. Fresh: C = A B times a factor.
enum class Into { Fresh, Sum };

// Two bf16 numbers; the first is in the lower bits.
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

// Keeps x in a register: compilers tend to reload an operand in each instruction that uses it.
inline void hold(V &x) {
#if BRAID_ISA_AVX512 || BRAID_ISA_AVX2 || (BRAID_LANES == 4 && defined(__SSE2__))
  asm("" : "+v"(x));
#else
  (void)x;
#endif
}

// Computes rows [0, kBlockRows) and columns [0, N * W) of C. `b_width` and `c_width` are the row strides of
// B and C.
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

// Computes N vectors of all rows.
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

// Computes `rows` x (`vectors` W) elements of C; writes rows up to a multiple of kBlockRows. `terms(rows,
// columns)` returns the range of terms of a block of C.
template <Into How, class E, class Terms>
inline void tile_product(TileFactor<E> a, const E *b, int64_t b_width, float *c, int64_t c_width, int64_t rows,
                         int64_t vectors, const Terms &terms, float scale = 1) {
  static_assert(kBlockVectors == 3 || kBlockVectors == 4);
  int64_t v = 0;
  // Skips a full block if a single vector would remain after it: with blocks of 3, 4 vectors are 2 and 2,
  // not 3 and 1.
  for (; vectors - v >= kBlockVectors && vectors - v != kBlockVectors + 1; v += kBlockVectors)
    detail::panel_product<kBlockVectors, How>(a, b, b_width, c, c_width, rows, v * W, terms, scale);
  for (; vectors - v >= 2; v += 2)
    detail::panel_product<2, How>(a, b, b_width, c, c_width, rows, v * W, terms, scale);
  if (v < vectors)
    detail::panel_product<1, How>(a, b, b_width, c, c_width, rows, v * W, terms, scale);
}

} // namespace braid
#endif // BRAID_CPU_TILEPRODUCT_H
