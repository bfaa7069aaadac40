//===- AttentionOperands.h - operands of attention's products -------------===//
//
// Tiles of queries, keys, values and gradients in the layouts of TileProduct.h. FloatOperands are f32, from
// tensors of f32 or bf16. PairOperands are bf16, for processors that multiply pairs of bf16: twice as many
// products per instruction, with f32 sums as before. For these, weights and their gradients are rounded to
// bf16, as in attention on GPUs.
//
// In both, a tile of rows has these forms:
//   left    left operand, for sums along a row
//   right   right operand, for sums over the rows
//   columns right operand, for sums along a row: the transposed tile
// Weights, stored at [key * Tile + query], are left operands: `byKeys` for sums over queries, and
// `byQueries` for sums over keys. Rows and columns are zero-padded to whole blocks and vectors.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_ATTENTIONOPERANDS_H
#define BRAID_CPU_ATTENTIONOPERANDS_H

#include "AttentionTiles.h"

#include <type_traits>
#include <utility>

namespace braid {

//===----------------------------------------------------------------------===//
// Rows to and from memory
//===----------------------------------------------------------------------===//

// Converts `count` rows of D elements to f32, zero-padded to whole blocks and vectors.
template <int64_t D, class T> inline void pack_rows(const T *rows, int64_t stride, int64_t count, float *out) {
  constexpr int64_t width = round_up(D, W), whole = D / W * W;
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t l = 0; l < whole; l += W)
      st(out + r * width + l, ld(rows + r * stride + l));
    if constexpr (whole < D)
      st(out + r * width + whole, ld(rows + r * stride + whole, D - whole));
  }
  fill(out + count * width, out + round_up(count, kBlockRows) * width, 0.0f);
}

namespace detail {
// One step of transposing W x W elements: swaps elements between each two rows whose indices differ in bit
// H.
template <int H> inline void swap_halves(V (&row)[W]) {
  auto pick = []<int... L>(V a, V b, std::integer_sequence<int, L...>) {
    return __builtin_shufflevector(a, b, (L & H ? W + L - H : L)...);
  };
  auto rest = []<int... L>(V a, V b, std::integer_sequence<int, L...>) {
    return __builtin_shufflevector(a, b, (L & H ? W + L : L + H)...);
  };
  constexpr std::make_integer_sequence<int, W> lanes;
#pragma GCC unroll 16
  for (int i = 0; i < W; ++i)
    if (!(i & H)) {
      const V a = row[i], b = row[i + H];
      row[i] = pick(a, b, lanes);
      row[i + H] = rest(a, b, lanes);
    }
}

inline void transpose(V (&row)[W]) {
  swap_halves<1>(row);
  swap_halves<2>(row);
#if BRAID_LANES >= 8
  swap_halves<4>(row);
#endif
#if BRAID_LANES >= 16
  swap_halves<8>(row);
#endif
}
} // namespace detail

// Transposes packed rows of whole vectors: out[e * Tile + s]. Columns up to Tile are zero-padded. Elements
// have 32 bits and any meaning.
template <int64_t width, int64_t Tile> inline void transpose_rows(const float *rows, int64_t count, float *out) {
  for (int64_t s = 0; s < Tile; s += W)
    for (int64_t e = 0; e < width; e += W) {
      V block[W];
#pragma GCC unroll 16
      for (int64_t i = 0; i < W; ++i)
        block[i] = s + i < count ? ld(rows + (s + i) * width + e) : V{};
      detail::transpose(block);
#pragma GCC unroll 16
      for (int64_t i = 0; i < W; ++i)
        st(out + (e + i) * Tile + s, block[i]);
    }
}

// Returns the dot product of two rows of D elements.
template <int64_t D, class T> inline float dot_rows(const T *a, const T *b) {
  constexpr int64_t whole = D / W * W;
  V sum = {};
  for (int64_t l = 0; l < whole; l += W)
    sum += ld(a + l) * ld(b + l);
  if constexpr (whole < D)
    sum += ld(a + whole, D - whole) * ld(b + whole, D - whole);
  return row_sum(sum);
}

// Stores row r times factor(r) in the output tensor.
template <int64_t D, class T, class Factor>
inline void unpack_rows(const float *rows, int64_t count, const Factor &factor, T *out, int64_t stride) {
  constexpr int64_t width = round_up(D, W), whole = D / W * W;
  for (int64_t r = 0; r < count; ++r) {
    const float f = factor(r);
    for (int64_t l = 0; l < whole; l += W)
      st(out + r * stride + l, ld(rows + r * width + l) * f);
    if constexpr (whole < D)
      st(out + r * stride + whole, ld(rows + r * width + whole) * f, D - whole);
  }
}

//===----------------------------------------------------------------------===//
// f32
//===----------------------------------------------------------------------===//

struct FloatOperands {
  using Element = float;

  template <int64_t D, int64_t Tile> struct Rows {
    static constexpr int64_t width = round_up(D, W);
    alignas(64) float at[Tile * width];

    template <class T> void load(const T *rows, int64_t stride, int64_t count) {
      pack_rows<D>(rows, stride, count, at);
    }
    TileFactor<float> left() const { return {at, width, 1}; }
    const float *right() const { return at; }
  };
  template <int64_t D, int64_t Tile> using LeftRows = Rows<D, Tile>;
  template <int64_t D, int64_t Tile> using RightRows = Rows<D, Tile>;

  template <int64_t D, int64_t Tile> struct Columns {
    alignas(64) float at[round_up(D, W) * Tile];

    void load(const LeftRows<D, Tile> &rows, int64_t count) {
      transpose_rows<round_up(D, W), Tile>(rows.at, count, at);
    }
    const float *right() const { return at; }
  };

  // Weights are read in place.
  template <int64_t Tile, bool> struct Weights {
    void load(const AttentionTile &, const float *) {}
    static TileFactor<float> byKeys(const float *weights) { return {weights, Tile, 1}; }
    static TileFactor<float> byQueries(const float *weights) { return {weights, 1, Tile}; }
  };

  // A term is one element.
  static Range terms(Range elements) { return elements; }
};

#ifdef BRAID_PAIR_PRODUCTS
//===----------------------------------------------------------------------===//
// Pairs of bf16
//===----------------------------------------------------------------------===//

struct PairOperands {
  using Element = BfPair;

  // Pairs along a row; the pairs of a row are padded to whole vectors.
  template <int64_t D, int64_t Tile> struct LeftRows {
    static constexpr int64_t width = round_up((D + 1) / 2, W);
    alignas(64) BfPair at[Tile * width];

    void load(const bf16 *rows, int64_t stride, int64_t count) {
      for (int64_t r = 0; r < count; ++r) {
        std::memset(at + r * width, 0, sizeof(BfPair) * width);
        std::memcpy(at + r * width, rows + r * stride, sizeof(bf16) * D);
      }
      const int64_t end = round_up(count, kBlockRows);
      std::memset(at + count * width, 0, sizeof(BfPair) * (end - count) * width);
    }
    TileFactor<BfPair> left() const { return {at, width, 1}; }
  };

  // Pairs of elements from neighbouring rows.
  template <int64_t D, int64_t Tile> struct RightRows {
    static constexpr int64_t width = round_up(D, W);
    alignas(64) BfPair at[Tile / 2 * width];

    void load(const bf16 *rows, int64_t stride, int64_t count) {
      const int64_t end = round_up(count, kBlockRows);
      for (int64_t r = 0; r < end; r += 2)
        for (int64_t l = 0; l < D; l += W) {
          auto bits = [&](int64_t row) {
            const bf16 *from = rows + row * stride + l;
            return row < count ? bit_cast<VU>(ld(from, minimum(D - l, int64_t{W}))) : VU{};
          };
          // The upper half of a float has the bits of the bf16 value.
          st(reinterpret_cast<float *>(at) + r / 2 * width + l, bit_cast<V>(bits(r) >> 16 | bits(r + 1)));
        }
    }
    const BfPair *right() const { return at; }
  };

  template <int64_t D, int64_t Tile> struct Rows {
    LeftRows<D, Tile> asLeft;
    RightRows<D, Tile> asRight;

    void load(const bf16 *rows, int64_t stride, int64_t count) {
      asLeft.load(rows, stride, count);
      asRight.load(rows, stride, count);
    }
    TileFactor<BfPair> left() const { return asLeft.left(); }
    const BfPair *right() const { return asRight.right(); }
  };

  template <int64_t D, int64_t Tile> struct Columns {
    static constexpr int64_t width = LeftRows<D, Tile>::width;
    alignas(64) BfPair at[width * Tile];

    void load(const LeftRows<D, Tile> &rows, int64_t count) {
      transpose_rows<width, Tile>(reinterpret_cast<const float *>(rows.at), count, reinterpret_cast<float *>(at));
    }
    void load(const Rows<D, Tile> &rows, int64_t count) { load(rows.asLeft, count); }
    const BfPair *right() const { return at; }
  };

  // Rounded copies of the weights: pairs of keys for each query and, with `WithKeys`, pairs of queries for
  // each key. If the number of keys is odd, the last pair has a weight of zero.
  template <int64_t Tile, bool WithKeys> struct Weights {
    alignas(64) BfPair pairsOfKeys[Tile / 2 * Tile], pairsOfQueries[WithKeys ? Tile * Tile / 2 : 1];

    void load(const AttentionTile &tile, const float *weights) {
      for (int64_t s = 0; s < tile.queries; s += W) {
        const Range keys = tile.blocksOf({s, s + W});
        for (int64_t t = keys.begin; t < keys.end; t += 2) {
          const VH even = narrow(ld(weights + t * Tile + s));
          const VH odd = t + 1 < keys.end ? narrow(ld(weights + (t + 1) * Tile + s)) : VH{};
          const VU both = __builtin_convertvector(even, VU) | __builtin_convertvector(odd, VU) << 16;
          std::memcpy(pairsOfKeys + t / 2 * Tile + s, &both, sizeof both);
          if constexpr (WithKeys) {
            std::memcpy(pairsOfQueries + (t * Tile + s) / 2, &even, sizeof even);
            if (t + 1 < keys.end)
              std::memcpy(pairsOfQueries + ((t + 1) * Tile + s) / 2, &odd, sizeof odd);
          }
        }
      }
    }
    TileFactor<BfPair> byKeys(const float *) const { return {pairsOfQueries, Tile / 2, 1}; }
    TileFactor<BfPair> byQueries(const float *) const { return {pairsOfKeys, 1, Tile}; }
  };

  // Returns the pairs that contain these elements; other elements in them are zero.
  static Range terms(Range elements) { return {elements.begin / 2, (elements.end + 1) / 2}; }
};

template <class T> using OperandsOf = std::conditional_t<std::is_same_v<T, bf16>, PairOperands, FloatOperands>;
#else
template <class T> using OperandsOf = FloatOperands;
#endif

} // namespace braid
#endif // BRAID_CPU_ATTENTIONOPERANDS_H
