//===- AttentionTiles.h - attention on one tile ---------------------------===//
//
// A tile is a range of queries and a range of keys. Scores are stored by key, then by query, so that lanes
// are queries: maxima and sums of a softmax then need no operations across lanes, and keys are read in
// order.
//
// The mask is a band of diagonals. Whole tiles outside the band are skipped. On tiles that its edges cross,
// blocks of the products outside the band are skipped. Inside the band, documents that share a row mask
// further pairs, and tiles without any remaining pair are skipped.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_ATTENTIONTILES_H
#define BRAID_CPU_ATTENTIONTILES_H

#include "TileProduct.h"

namespace braid {

constexpr int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

//===----------------------------------------------------------------------===//
// The mask
//===----------------------------------------------------------------------===//

// Query s attends to key t if first <= t - s <= last.
struct AttentionBand {
  int64_t first, last;
};

constexpr int64_t kUnlimited = int64_t{1} << 40;
constexpr AttentionBand kAllPairs = {-kUnlimited, kUnlimited};

// Returns the intersection; [0, 0) if it is empty.
inline Range overlap(Range a, Range b) {
  const Range both = {maximum(a.begin, b.begin), minimum(a.end, b.end)};
  return both.begin < both.end ? both : Range{0, 0};
}

// Returns the range of `keys` keys that any of these queries attend to; empty for no queries.
inline Range keys_of(AttentionBand band, Range queries, int64_t keys) {
  if (queries.begin >= queries.end)
    return {0, 0};
  return overlap({queries.begin + band.first, queries.end + band.last}, {0, keys});
}

// Returns the range of queries that attend to any of these keys.
inline Range queries_of(AttentionBand band, Range keys, int64_t queries) {
  return keys_of({-band.last, -band.first}, keys, queries);
}

// The least and the greatest document number in a range.
struct DocumentRange {
  int32_t least, greatest;

  DocumentRange(const int32_t *documents, int64_t count) : least(*documents), greatest(*documents) {
    for (int64_t i = 1; i < count; ++i) {
      least = minimum(least, documents[i]);
      greatest = maximum(greatest, documents[i]);
    }
  }
};

// Document numbers of a tile's queries and keys; null if there is a single document. Reads of the queries'
// numbers are rounded up to a whole vector.
struct TileDocuments {
  const int32_t *queries, *keys;
};

// Queries [query, query + queries) and keys [key, key + keys). Ranges are relative to these starts. The
// blocks of a product may extend beyond the tile; no pair beyond it counts.
struct AttentionTile {
  int64_t query, queries, key, keys;
  AttentionBand band; // relative to these starts, too
  TileDocuments documents;
  bool isOneDocument = true, isEmpty = false;

  AttentionTile(AttentionBand band, TileDocuments documents, int64_t query, int64_t queries, int64_t key, int64_t keys)
      : query(query), queries(queries), key(key), keys(keys), band{band.first + query - key, band.last + query - key},
        documents(documents) {
    if (!documents.queries)
      return;
    const DocumentRange queryDocuments(documents.queries, queries), keyDocuments(documents.keys, keys);
    isOneDocument = queryDocuments.least == keyDocuments.greatest && queryDocuments.greatest == keyDocuments.least;
    isEmpty = queryDocuments.greatest < keyDocuments.least || keyDocuments.greatest < queryDocuments.least;
  }

  // Whether all pairs count.
  bool isWhole() const { return isOneDocument && band.first <= 1 - queries && band.last >= keys - 1; }
  Range keysOf(Range rows) const { return keys_of(band, overlap(rows, {0, queries}), keys); }
  Range queriesOf(Range columns) const { return queries_of(band, overlap(columns, {0, keys}), queries); }
  // Returns keysOf, extended to whole blocks of rows.
  Range blocksOf(Range rows) const {
    const Range found = keysOf(rows);
    return {found.begin / kBlockRows * kBlockRows, minimum(round_up(found.end, kBlockRows), keys)};
  }

  // Returns a mask of the lanes, which are queries from s on, that attend to key t.
  VM counts(int64_t s, int64_t t) const {
    const VI distance = static_cast<int32_t>(t - s) - lane_index(0);
    const VM inBand = (distance >= limit(band.first)) & (distance <= limit(band.last));
    return isOneDocument ? inBand : inBand & (ld(documents.queries + s) == documents.keys[t]);
  }

private:
  static int32_t limit(int64_t n) {
    return static_cast<int32_t>(minimum(maximum(n, -(int64_t{1} << 30)), int64_t{1} << 30));
  }
};

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

// Returns 2^x for x <= 127, within 2 units in the last place; returns 2^-126 for smaller results.
inline V power_of_two(V x) {
  constexpr float magic = 12582912.0f; // 1.5 * 2^23: the last bits of the sum are an integer
  x = detail::at_least(x, -126.0f);    // keeps NaN
  const V shifted = x + magic;
  const V r = x - (shifted - magic);
  const V p = detail::polynomial(r, 1.535336188e-4f, 1.339887440e-3f, 9.618437357e-3f, 5.550332471e-2f, 2.402264791e-1f,
                                 6.931472028e-1f, 1.0f);
  return bit_cast<V>(bit_cast<VU>(p) + (bit_cast<VU>(shifted) << 23));
}

// Replaces scores by cap tanh(score / cap); slope(index, values) receives the derivatives.
template <int64_t Tile, class Slope>
inline void cap_scores(const AttentionTile &tile, float *scores, float cap, const Slope &slope) {
  for (int64_t s = 0; s < tile.queries; s += W) {
    const Range keys = tile.blocksOf({s, s + W});
    for (int64_t t = keys.begin; t < keys.end; ++t) {
      const V bent = tanh(ld(scores + t * Tile + s) * (1.0f / cap));
      st(scores + t * Tile + s, bent * cap);
      slope(t * Tile + s, 1.0f - bent * bent);
    }
  }
}

// Replaces scores at [key * Tile + query], which are exponents of two, by the weights 2^(score - base).
// Masked pairs get zeros, in blocks that are not fully masked. Lanes are queries from s on. base(s, keys)
// returns the value to subtract; done(s, sums) receives the sums of the weights.
template <int64_t Tile, class Base, class Done>
inline void weigh(const AttentionTile &tile, float *scores, const Base &base, const Done &done) {
  const bool isWhole = tile.isWhole();
  for (int64_t s = 0; s < tile.queries; s += W) {
    const Range keys = tile.blocksOf({s, s + W});
    const V from = base(s, keys);
    V sum = {};
    for (int64_t t = keys.begin; t < keys.end; ++t) {
      V weight = power_of_two(ld(scores + t * Tile + s) - from);
      if (!isWhole)
        weight = select(tile.counts(s, t), weight, V{});
      sum += weight;
      st(scores + t * Tile + s, weight);
    }
    done(s, sum);
  }
}

} // namespace braid
#endif // BRAID_CPU_ATTENTIONTILES_H
