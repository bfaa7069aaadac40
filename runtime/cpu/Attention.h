//===- Attention.h - tiled attention and its gradient ---------------------===//
//
// Implements exec.attention and exec.attention_grad for generated programs. The queries x keys matrix is
// never in memory. Forward keeps a running softmax per query (Milakov and Gimelshein; FlashAttention) and
// stores its log-sum-exp, from which backward recomputes the weights of a tile.
//
// Operands are f32 or bf16 with any strides. Products take f32 or, if the processor supports it, bf16
// factors (AttentionOperands.h); all sums are f32. A thread keeps its tiles on its stack. Backward
// accumulates the gradients of a head's keys and values in scratch memory. It does so in the order of the
// queries, so a result has the same bits for any number of threads.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_ATTENTION_H
#define BRAID_CPU_ATTENTION_H

#include "AttentionOperands.h"
#include "Launch.h"

namespace braid {

namespace detail {
constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;

inline AttentionBand band_of(const br_attention_desc &d) {
  if (!d.causal)
    return kAllPairs;
  return {d.window ? d.first - d.window + 1 : -kUnlimited, d.first};
}

// Returns the start of a head's rows.
template <class T>
inline T *rows_of(T *tensor, const int64_t (&strides)[3], int64_t batch, int64_t position, int64_t head) {
  return tensor + batch * strides[0] + position * strides[1] + head * strides[2];
}

// Number of multiply-adds below which waking threads costs more than it gains.
constexpr int64_t kSerialProducts = 1 << 17;

template <class F> inline void share(br_context *ctx, const br_attention_desc &d, int64_t count, const F &f) {
  if (count == 1 || d.batch * d.heads * d.queries * d.keys * d.size <= kSerialProducts)
    return f(0, count);
  parallel(ctx, count, f);
}

// Document numbers of a row of the batch, and of some of its queries, padded to whole vectors.
template <int64_t Tile> struct RowDocuments {
  const int32_t *ofKeys;
  alignas(64) int32_t ofQueries[Tile] = {};

  RowDocuments(const br_attention_desc &d, const int32_t *documents, int64_t batch)
      : ofKeys(documents ? documents + batch * d.positions : nullptr) {}

  void setQueries(const br_attention_desc &d, int64_t query, int64_t queries) {
    if (ofKeys)
      std::memcpy(ofQueries, ofKeys + d.first + query, queries * sizeof *ofQueries);
  }
  TileDocuments at(int64_t key) const { return ofKeys ? TileDocuments{ofQueries, ofKeys + key} : TileDocuments{}; }
};

// Calls f(tile), in order, for each tile of keys that these queries attend to.
template <int64_t Tile, class F>
inline void for_tiles(const br_attention_desc &d, const RowDocuments<Tile> &documents, int64_t query, int64_t queries,
                      const F &f) {
  const AttentionBand band = band_of(d);
  const Range keys = keys_of(band, {query, query + queries}, d.keys);
  for (int64_t key = keys.begin / Tile * Tile; key < keys.end; key += Tile)
    if (const AttentionTile tile(band, documents.at(key), query, queries, key, minimum(Tile, d.keys - key));
        !tile.isEmpty)
      f(tile);
}

// Returns the terms of sums along rows of D elements: all terms if the block has any pair in the band, else
// none.
template <class Operands, int64_t D> inline auto counted_terms(const AttentionTile &tile) {
  return [&tile](Range keys, Range queries) {
    const Range counted = overlap(tile.queriesOf(keys), queries);
    return counted.begin < counted.end ? Operands::terms({0, D}) : Range{0, 0};
  };
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

// Some queries of a head and the state of their softmax.
template <class Operands, int64_t D, int64_t Tile, bool Capped> struct Queries {
  static constexpr int64_t width = round_up(D, W);
  float scale, softcap; // times log2(e), for exponents of two

  typename Operands::template LeftRows<D, Tile> rows, key;
  typename Operands::template RightRows<D, Tile> value;
  typename Operands::template Columns<D, Tile> columns;
  typename Operands::template Weights<Tile, /*WithKeys=*/false> rounded;
  alignas(64) float weights[Tile * Tile], sum[Tile * width];
  alignas(64) float largest[Tile], total[Tile], rescale[Tile];

  explicit Queries(const br_attention_desc &d)
      : scale(static_cast<float>(d.scale) * kLog2E), softcap(static_cast<float>(d.softcap) * kLog2E) {}

  template <class T> void begin(const T *q, int64_t stride, int64_t queries) {
    rows.load(q, stride, queries);
    columns.load(rows, queries);
    fill(largest, largest + Tile, -std::numeric_limits<float>::infinity());
    fill(total, total + Tile, 0.0f);
    fill(sum, sum + Tile * width, 0.0f);
  }

  void add(const AttentionTile &tile) {
    tile_product<Into::Fresh>(key.left(), columns.right(), Tile, weights, Tile, tile.keys,
                              round_up(tile.queries, W) / W, counted_terms<Operands, D>(tile), scale);
    if constexpr (Capped)
      cap_scores<Tile>(tile, weights, softcap, [](int64_t, V) {});
    bool isRescaled = false;
    weigh<Tile>(
        tile, weights,
        [&](int64_t s, Range keys) {
          const V maxScore = maximumOf(tile, s, keys), old = ld(largest + s);
          const V base = maximum(maxScore, splat(std::numeric_limits<float>::lowest()));
          const V factor = power_of_two(old - base);
          st(rescale + s, factor);
          st(total + s, ld(total + s) * factor);
          st(largest + s, maxScore);
          isRescaled |= row_any(maxScore != old);
          return base;
        },
        [&](int64_t s, V weightSum) { st(total + s, ld(total + s) + weightSum); });
    if (isRescaled)
      for (int64_t s = 0; s < tile.queries; ++s)
        for (int64_t e = 0; e < width; e += W)
          st(sum + s * width + e, ld(sum + s * width + e) * rescale[s]);
    rounded.load(tile, weights);
    tile_product<Into::Sum>(rounded.byQueries(weights), value.right(), width, sum, width, tile.queries, width / W,
                            [&](Range queries, Range) { return Operands::terms(tile.keysOf(queries)); });
  }

private:
  V maximumOf(const AttentionTile &tile, int64_t s, Range keys) const {
    V maxScore = ld(largest + s);
    const bool isWhole = tile.isWhole();
    for (int64_t t = keys.begin; t < keys.end; ++t) {
      const V score = ld(weights + t * Tile + s);
      const VM isMore = isWhole ? score > maxScore : (score > maxScore) & tile.counts(s, t);
      maxScore = isMore ? score : maxScore;
    }
    return maxScore;
  }
};

template <class T, int64_t D, int64_t Tile, bool Capped>
inline void attention_tile(const br_attention_desc &d, int64_t batch, int64_t head, int64_t query, const T *q,
                           const T *k, const T *v, const int32_t *documents, T *o, float *lse) {
  Queries<OperandsOf<T>, D, Tile, Capped> state(d);
  const int64_t queries = minimum(Tile, d.queries - query), key_head = head / (d.heads / d.key_heads);
  RowDocuments<Tile> row(d, documents, batch);
  row.setQueries(d, query, queries);
  state.begin(rows_of(q, d.q, batch, query, head), d.q[1], queries);
  for_tiles<Tile>(d, row, query, queries, [&](const AttentionTile &tile) {
    state.key.load(rows_of(k, d.k, batch, tile.key, key_head), d.k[1], tile.keys);
    state.value.load(rows_of(v, d.v, batch, tile.key, key_head), d.v[1], tile.keys);
    state.add(tile);
  });
  unpack_rows<D>(
      state.sum, queries, [&](int64_t s) { return state.total[s] > 0 ? 1.0f / state.total[s] : 0.0f; },
      rows_of(o, d.o, batch, query, head), d.o[1]);
  float *rows = lse + (batch * d.heads + head) * d.queries + query;
  lanes(0, queries,
        [&](int64_t s, auto n) { st(rows + s, ld(state.largest + s) * kLn2 + log(ld(state.total + s)), n); });
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

// Some queries of a head, the gradient of their result, and their gradients so far.
template <class Operands, int64_t D, int64_t Tile, bool Capped> struct QueryGradients {
  static constexpr int64_t width = round_up(D, W);
  float scale, softcap; // times log2(e), for exponents of two

  typename Operands::template Rows<D, Tile> rows, gradient, key;
  typename Operands::template LeftRows<D, Tile> value;
  typename Operands::template Columns<D, Tile> columns, gradient_columns;
  typename Operands::template Weights<Tile, /*WithKeys=*/true> rounded; // weights, then their gradients
  alignas(64) float weights[Tile * Tile], scores[Tile * Tile], sum[Tile * width];
  alignas(64) float lse[Tile], mean[Tile];            // log-sum-exp in base 2; dot product of
                                                      // the result and its gradient
  alignas(64) float slopes[Capped ? Tile * Tile : W]; // derivatives of soft-capped scores

  explicit QueryGradients(const br_attention_desc &d)
      : scale(static_cast<float>(d.scale) * kLog2E), softcap(static_cast<float>(d.softcap) * kLog2E) {}

  template <class T>
  void begin(const br_attention_desc &d, int64_t batch, int64_t head, int64_t query, int64_t queries, const T *q,
             const T *o, const float *its_lse, const T *dout) {
    const T *gradients = rows_of(dout, d.dout, batch, query, head), *results = rows_of(o, d.o, batch, query, head);
    rows.load(rows_of(q, d.q, batch, query, head), d.q[1], queries);
    gradient.load(gradients, d.dout[1], queries);
    fill(lse, lse + Tile, 0.0f);
    fill(mean, mean + Tile, 0.0f);
    for (int64_t s = 0; s < queries; ++s) {
      mean[s] = dot_rows<D>(gradients + s * d.dout[1], results + s * d.o[1]);
      lse[s] = its_lse[(batch * d.heads + head) * d.queries + query + s] * kLog2E;
    }
    columns.load(rows, queries);
    gradient_columns.load(gradient, queries);
    fill(sum, sum + Tile * width, 0.0f);
  }

  // Adds to `dk` and `dv`, the gradients of the tile's keys and values.
  void add(const AttentionTile &tile, float *dk, float *dv) {
    const int64_t vectors = round_up(tile.queries, W) / W;
    const auto counted = counted_terms<Operands, D>(tile);
    auto ofKeys = [&](Range keys, Range) { return Operands::terms(tile.queriesOf(keys)); };
    tile_product<Into::Fresh>(key.left(), columns.right(), Tile, weights, Tile, tile.keys, vectors, counted, scale);
    if constexpr (Capped)
      cap_scores<Tile>(tile, weights, softcap, [&](int64_t at, V slope) { st(slopes + at, slope); });
    weigh<Tile>(tile, weights, [&](int64_t s, Range) { return ld(lse + s); }, [](int64_t, V) {});
    rounded.load(tile, weights);
    tile_product<Into::Sum>(rounded.byKeys(weights), gradient.right(), width, dv, width, tile.keys, width / W, ofKeys);
    tile_product<Into::Fresh>(value.left(), gradient_columns.right(), Tile, scores, Tile, tile.keys, vectors, counted);
    setScoreGradients(tile);
    rounded.load(tile, scores);
    tile_product<Into::Sum>(rounded.byKeys(scores), rows.right(), width, dk, width, tile.keys, width / W, ofKeys);
    tile_product<Into::Sum>(rounded.byQueries(scores), key.right(), width, sum, width, tile.queries, width / W,
                            [&](Range queries, Range) { return Operands::terms(tile.keysOf(queries)); });
  }

private:
  // Turns gradients of weights, in `scores`, into gradients of scores.
  void setScoreGradients(const AttentionTile &tile) {
    for (int64_t s = 0; s < tile.queries; s += W) {
      const Range keys = tile.blocksOf({s, s + W});
      const V its_mean = ld(mean + s);
      for (int64_t t = keys.begin; t < keys.end; ++t) {
        V gradient = ld(weights + t * Tile + s) * (ld(scores + t * Tile + s) - its_mean);
        if constexpr (Capped)
          gradient *= ld(slopes + t * Tile + s);
        st(scores + t * Tile + s, gradient);
      }
    }
  }
};

// Computes the gradients of one head of keys and of all query heads that read it.
template <class T, int64_t D, int64_t Tile, bool Capped>
inline void attention_grad_head(const br_attention_desc &d, int64_t batch, int64_t key_head, const T *q, const T *k,
                                const T *v, const T *o, const float *lse, const T *dout, const int32_t *documents,
                                T *dq, T *dk, T *dv, float *scratch) {
  QueryGradients<OperandsOf<T>, D, Tile, Capped> state(d);
  constexpr int64_t width = round_up(D, W);
  const int64_t group = d.heads / d.key_heads, padded = round_up(d.keys, Tile);
  const float scale = static_cast<float>(d.scale);
  float *sum_dk = scratch, *sum_dv = scratch + padded * width;
  fill(scratch, scratch + 2 * padded * width, 0.0f);
  RowDocuments<Tile> row(d, documents, batch);
  for (int64_t head = key_head * group; head < (key_head + 1) * group; ++head)
    for (int64_t query = 0; query < d.queries; query += Tile) {
      const int64_t queries = minimum(Tile, d.queries - query);
      state.begin(d, batch, head, query, queries, q, o, lse, dout);
      row.setQueries(d, query, queries);
      for_tiles<Tile>(d, row, query, queries, [&](const AttentionTile &tile) {
        state.key.load(rows_of(k, d.k, batch, tile.key, key_head), d.k[1], tile.keys);
        state.value.load(rows_of(v, d.v, batch, tile.key, key_head), d.v[1], tile.keys);
        state.add(tile, sum_dk + tile.key * width, sum_dv + tile.key * width);
      });
      unpack_rows<D>(
          state.sum, queries, [&](int64_t) { return scale; }, rows_of(dq, d.dq, batch, query, head), d.dq[1]);
    }
  unpack_rows<D>(sum_dk, d.keys, [&](int64_t) { return scale; }, rows_of(dk, d.dk, batch, 0, key_head), d.dk[1]);
  unpack_rows<D>(sum_dv, d.keys, [](int64_t) { return 1.0f; }, rows_of(dv, d.dv, batch, 0, key_head), d.dv[1]);
}
} // namespace detail

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

// Optional facts about positions; each may be null: the document numbers, and the positions of the first
// query and of the first key if they are known only at run time.
struct BlockPlaces {
  const int32_t *documents = nullptr, *query_start = nullptr, *key_start = nullptr;

  br_attention_desc at(br_attention_desc d) const {
    if (query_start)
      d.first += *query_start - *key_start;
    return d;
  }
  // Returns the document numbers from the first key on.
  const int32_t *documents_of_keys() const { return documents && key_start ? documents + *key_start : documents; }
};

// Elements of type T, heads of size D, tiles of Tile positions.
template <class T, int64_t D, int64_t Tile, bool Capped = false>
[[gnu::noinline]] inline void attention(br_context *ctx, const br_attention_desc &row, const T *q, const T *k,
                                        const T *v, T *o, float *lse, const BlockPlaces &places = {}) {
  const br_attention_desc d = places.at(row);
  const int32_t *documents = places.documents_of_keys();
  const int64_t tiles = round_up(d.queries, Tile) / Tile;
  detail::share(ctx, d, d.batch * d.heads * tiles, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      detail::attention_tile<T, D, Tile, Capped>(d, i / tiles / d.heads, i / tiles % d.heads, i % tiles * Tile, q, k, v,
                                                 documents, o, lse);
  });
}

// The heads of keys are divided among as many slots as fit into the scratch memory.
template <class T, int64_t D, int64_t Tile, bool Capped = false>
[[gnu::noinline]] inline void attention_grad(br_context *ctx, const br_attention_desc &row, const T *q, const T *k,
                                             const T *v, const T *o, const float *lse, const T *dout, T *dq, T *dk,
                                             T *dv, float *scratch, const BlockPlaces &places = {}) {
  const br_attention_desc d = places.at(row);
  const int32_t *documents = places.documents_of_keys();
  const int64_t heads = d.batch * d.key_heads, each = 2 * round_up(d.keys, Tile) * round_up(D, W);
  const int64_t slots = minimum(heads, static_cast<int64_t>(d.workspace_bytes / (each * sizeof(float))));
  detail::share(ctx, d, slots, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot)
      for (int64_t i = slot * heads / slots; i < (slot + 1) * heads / slots; ++i)
        detail::attention_grad_head<T, D, Tile, Capped>(d, i / d.key_heads, i % d.key_heads, q, k, v, o, lse, dout,
                                                        documents, dq, dk, dv, scratch + slot * each);
  });
}

} // namespace braid
#endif // BRAID_CPU_ATTENTION_H
