//===- AttentionTiles.h - tiled kernels of attention and its gradient -----===//
//
// Kernels for exec.attention and exec.attention_grad that no library computes.  As on the CPU
// (cpu/Attention.h), no matrix of queries x keys is in global memory.  Forward keeps a running
// softmax for each query (Milakov and Gimelshein; FlashAttention) and stores its log-sum-exp;
// backward recomputes the weights of each tile from it.
//
// A block computes a square of 64 queries x 64 keys.  Its threads form a grid: 16 threads share
// some rows of the square, and each of them has every 16th column.  Operands (f32 or bf16) pass
// through shared memory 16 columns or 16 rows at a time; products and sums are f32, on the ordinary
// cores, not on tensor cores.
//
// Backward is two kernels: a block of one handles some keys, a block of the other some queries, and
// both recompute the weights.  So no sum crosses blocks, and every run gives the same bits.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_ATTENTIONTILES_H
#define BRAID_CUDA_ATTENTIONTILES_H

#include "cuda/Lanes.h"
#include "cuda/Launch.h"

namespace braid {

namespace attention_tiles {
constexpr int kTile = 64, kSlice = 16, kAcross = 16, kColumns = kTile / kAcross;
constexpr int kPitch = kTile + 1; // odd, so that neighbours in a column lie in different banks
constexpr unsigned kWarp = 0xffffffffu;
constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;
constexpr int64_t kUnlimited = int64_t{1} << 40;

__host__ __device__ constexpr int64_t tiles_of(int64_t positions) { return (positions + kTile - 1) / kTile; }
// Threads of a block; larger heads have more threads to share the sums.
template <int D> constexpr int threads_of = D <= 64 ? 128 : 256;

__device__ inline int least(int64_t a, int64_t b) { return static_cast<int>(a < b ? a : b); }
__device__ inline float larger(float a, float b) { return a > b ? a : b; }

// Up to 64 consecutive positions of one head in memory.
template <class T> struct Rows {
  T *at;
  int64_t stride;
  int count;
};

template <class T>
__device__ inline Rows<T> rows_of(T *tensor, const int64_t (&strides)[3], int64_t batch, int64_t position, int64_t head,
                                  int64_t positions) {
  return {tensor + batch * strides[0] + position * strides[1] + head * strides[2], strides[1],
          least(kTile, positions - position)};
}

//===----------------------------------------------------------------------===//
// The mask
//===----------------------------------------------------------------------===//

// Device pointers that the mask reads; null if unused.  `documents` has the document number of each
// position; `query_start` and `key_start` have the positions of the first query and of the first
// key where these are known only at run time.
struct Places {
  const int32_t *documents = nullptr, *query_start = nullptr, *key_start = nullptr;

  // Position of the first query, counted from the first key.
  __device__ int64_t first(const br_attention_desc &d) const {
    return query_start ? d.first + load(query_start) - load(key_start) : d.first;
  }
  // Document numbers of the keys in row `batch`.
  __device__ const int32_t *of_keys(const br_attention_desc &d, int64_t batch) const {
    return documents + batch * d.positions + (key_start ? load(key_start) : 0);
  }
};

// Query s attends to key t if first <= t - s <= last.
struct Band {
  int64_t first, last;

  __device__ Band(const br_attention_desc &d, const Places &places)
      : first(d.causal && d.window ? places.first(d) - d.window + 1 : -kUnlimited),
        last(d.causal ? places.first(d) : kUnlimited) {}

  // The range [begin, end) of key tiles that some of these queries attend to; then the range of
  // query tiles that attend to some of these keys.
  __device__ void keys(int64_t query, int queries, int64_t all, int64_t &begin, int64_t &end) const {
    range(query + first, query + queries + last, all, begin, end);
  }
  __device__ void queries(int64_t key, int keys, int64_t all, int64_t &begin, int64_t &end) const {
    range(key - last, key + keys - first, all, begin, end);
  }

private:
  __device__ static void range(int64_t from, int64_t to, int64_t all, int64_t &begin, int64_t &end) {
    begin = from < 0 ? 0 : from / kTile;
    end = to < 0 ? 0 : tiles_of(to < all ? to : all);
  }
};

// Smallest and largest of some document numbers, the same in all threads of a warp.
struct DocumentRange {
  int32_t least, greatest;

  __device__ DocumentRange(const int32_t *documents, int count) : least(load(documents)), greatest(least) {
    for (int i = threadIdx.x % 32; i < count; i += 32)
      include(load(documents + i));
    for (int bit = 1; bit < 32; bit *= 2) {
      const int32_t a = shuffle_xor(kWarp, least, bit), b = shuffle_xor(kWarp, greatest, bit);
      include(a), include(b);
    }
  }

private:
  __device__ void include(int32_t document) {
    least = document < least ? document : least;
    greatest = document > greatest ? document : greatest;
  }
};

//===----------------------------------------------------------------------===//
// Products of a block
//===----------------------------------------------------------------------===//

template <int D> struct Block {
  static constexpr int threads = threads_of<D>, rows = kTile * kAcross / threads, wide = (D + kAcross - 1) / kAcross;
  // Elements of a slice: 16 columns of two tiles, or 16 rows of one.
  static constexpr int slice = kSlice * (2 * kPitch > D ? 2 * kPitch : D), square = kTile * kPitch;

  Shared<float, slice> operands;
  Shared<float, square> weights; // [position to sum over][row]
  int across, row;

  __device__ Block(float (&operands)[slice], float (&weights)[square])
      : operands(operands), weights(weights), across(threadIdx.x % kAcross), row(threadIdx.x / kAcross * rows) {}

  // to[i][j] = dot product of row `row` + i of a and row `across` + 16 j of b.  This thread loads
  // elements of rows loaded_row(r) of a, and passes them to each(r, column, element).
  template <class A, class B, class F>
  __device__ void products(Rows<const A> a, Rows<const B> b, float (&to)[rows][kColumns], const F &each) const {
    for (auto &row_sums : to)
      for (float &sum : row_sums)
        sum = 0;
    for (int first = 0; first < D; first += kSlice) {
      for (int r = 0; r < rows; ++r) {
        const int at = loaded_row(r), column = first + across;
        const float x = at < a.count && column < D ? to_float(load(a.at + at * a.stride + column)) : 0.0f;
        const float y = at < b.count && column < D ? to_float(load(b.at + at * b.stride + column)) : 0.0f;
        each(r, column, x);
        operands.put(across * kPitch + at, x);
        operands.put((kSlice + across) * kPitch + at, y);
      }
      block_barrier();
#pragma unroll
      for (int e = 0; e < kSlice; ++e) {
        float y[kColumns];
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
          y[j] = operands.get((kSlice + e) * kPitch + across + kAcross * j);
#pragma unroll
        for (int i = 0; i < rows; ++i) {
          const float x = operands.get(e * kPitch + row + i);
#pragma unroll
          for (int j = 0; j < kColumns; ++j)
            to[i][j] = fmaf(x, y[j], to[i][j]);
        }
      }
      block_barrier();
    }
  }
  template <class A, class B>
  __device__ void products(Rows<const A> a, Rows<const B> b, float (&to)[rows][kColumns]) const {
    products(a, b, to, [](int, int, float) {});
  }
  __device__ static int loaded_row(int r) { return threadIdx.x / kAcross + r * (threads / kAcross); }

  // sum[i][c] += dot product of row `row` + i of `weights` and column `across` + 16 c of b.
  template <class B> __device__ void add_rows(Rows<const B> b, float (&sum)[rows][wide]) const {
    for (int first = 0; first < b.count; first += kSlice) {
      for (int i = threadIdx.x; i < kSlice * D; i += threads) {
        const int at = first + i / D;
        operands.put(i, at < b.count ? to_float(load(b.at + at * b.stride + i % D)) : 0.0f);
      }
      block_barrier();
#pragma unroll 4
      for (int u = 0; u < kSlice; ++u) {
        float y[wide];
#pragma unroll
        for (int c = 0; c < wide; ++c)
          y[c] = D % kAcross == 0 || across + kAcross * c < D ? operands.get(u * D + across + kAcross * c) : 0.0f;
#pragma unroll
        for (int i = 0; i < rows; ++i) {
          const float x = weights.get((first + u) * kPitch + row + i);
#pragma unroll
          for (int c = 0; c < wide; ++c)
            sum[i][c] = fmaf(x, y[c], sum[i][c]);
        }
      }
      block_barrier();
    }
  }

  // Returns the sum, or the maximum, of x over the 16 threads that share a row.
  __device__ static float sum_across(float x) {
    for (int bit = 1; bit < kAcross; bit *= 2)
      x += shuffle_xor(kWarp, x, bit);
    return x;
  }
  __device__ static float largest_across(float x) {
    for (int bit = 1; bit < kAcross; bit *= 2)
      x = larger(x, shuffle_xor(kWarp, x, bit));
    return x;
  }

  template <class T, class F>
  __device__ void store_rows(Rows<T> to, const float (&sum)[rows][wide], const F &factor) const {
    for (int i = 0; i < rows; ++i)
      for (int c = 0; c < wide; ++c)
        if (row + i < to.count && across + kAcross * c < D)
          store(to.at + (row + i) * to.stride + across + kAcross * c, static_cast<T>(sum[i][c] * factor(i)));
  }
};

// Attention scores of a thread, in base-2 units: products times `factor`, soft-capped if Capped.
template <bool Capped> struct Scores {
  float factor, cap;

  __device__ explicit Scores(const br_attention_desc &d)
      : factor(static_cast<float>(Capped ? d.scale / d.softcap : d.scale * kLog2E)),
        cap(static_cast<float>(d.softcap) * kLog2E) {}

  __device__ float of(float product) const {
    if constexpr (Capped)
      return cap * ::tanhf(product * factor);
    else
      return product * factor;
  }
  // Derivative of the score by the product, without the scale; `score` is the result of
  // of(product).
  __device__ float slope(float score) const {
    if constexpr (Capped)
      return 1.0f - score / cap * (score / cap);
    else
      return 1.0f;
  }
};

// The mask for a thread's pairs of a query and a key: queries from `query` + row, keys from `key` +
// across.
template <int D> struct Pairs {
  static constexpr int rows = Block<D>::rows;
  const Block<D> &block;
  Band band;
  int64_t distance; // first key position minus first query position of this thread
  int queries, keys;
  const int32_t *of_queries, *of_keys; // document numbers, or null if all pairs are in one document
  bool is_empty = false;

  __device__ Pairs(const Block<D> &block, const br_attention_desc &d, const Places &places, int64_t batch,
                   int64_t query, int64_t key)
      : block(block), band(d, places), distance(key + block.across - query - block.row),
        queries(least(kTile, d.queries - query)), keys(least(kTile, d.keys - key)), of_queries(nullptr),
        of_keys(nullptr) {
    if (!places.documents)
      return;
    of_keys = places.of_keys(d, batch);
    of_queries = of_keys + places.first(d) + query;
    of_keys += key;
    const DocumentRange query_documents(of_queries, queries), key_documents(of_keys, keys);
    is_empty = query_documents.greatest < key_documents.least || key_documents.greatest < query_documents.least;
    if (query_documents.least == key_documents.greatest && query_documents.greatest == key_documents.least)
      of_queries = of_keys = nullptr;
  }

  __device__ bool counts(int i, int j) const {
    const int s = block.row + i, t = block.across + kAcross * j;
    const int64_t pair_distance = distance + kAcross * j - i;
    if (s >= queries || t >= keys || pair_distance < band.first || pair_distance > band.last)
      return false;
    return !of_queries || load(of_queries + s) == load(of_keys + t);
  }
};

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

// A block computes one tile of queries of a head; tiles with the most keys come first.
template <class T, int D, bool Capped>
__global__ void __launch_bounds__(threads_of<D>)
    attention_kernel(br_attention_desc d, const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,
                     Places places, T *o, float *lse) {
  enter_kernel();
  using B = Block<D>;
  __shared__ float operand_memory[B::slice], weight_memory[B::square];
  const B block(operand_memory, weight_memory);
  const Scores<Capped> scores(d);
  const int64_t tiles = tiles_of(d.queries), head = blockIdx.x / tiles % d.heads, batch = blockIdx.x / tiles / d.heads;
  const int64_t query = (tiles - 1 - blockIdx.x % tiles) * kTile, key_head = head / (d.heads / d.key_heads);
  const Rows<const T> queries = rows_of(q, d.q, batch, query, head, d.queries);

  float sum[B::rows][B::wide] = {}, largest[B::rows], total[B::rows] = {};
  for (float &row_largest : largest)
    row_largest = -INFINITY;
  int64_t tile, end;
  Band(d, places).keys(query, queries.count, d.keys, tile, end);
  for (; tile < end; ++tile) {
    const int64_t key = tile * kTile;
    const Pairs<D> pairs(block, d, places, batch, query, key);
    if (pairs.is_empty)
      continue;
    float weights[B::rows][kColumns];
    block.products(queries, rows_of(k, d.k, batch, key, key_head, d.keys), weights);
    for (int i = 0; i < B::rows; ++i) {
      float max_score = largest[i], weight_sum = 0;
      for (int j = 0; j < kColumns; ++j) {
        weights[i][j] = scores.of(weights[i][j]);
        if (pairs.counts(i, j))
          max_score = larger(weights[i][j], max_score);
      }
      max_score = B::largest_across(max_score);
      const float base = max_score == -INFINITY ? 0.0f : max_score, factor = exp2_approx(largest[i] - base);
      for (int j = 0; j < kColumns; ++j) {
        weights[i][j] = pairs.counts(i, j) ? exp2_approx(weights[i][j] - base) : 0.0f;
        weight_sum += weights[i][j];
        block.weights.put((block.across + kAcross * j) * kPitch + block.row + i, weights[i][j]);
      }
      total[i] = total[i] * factor + B::sum_across(weight_sum);
      largest[i] = max_score;
      for (float &s : sum[i])
        s *= factor;
    }
    block.add_rows(rows_of(v, d.v, batch, key, key_head, d.keys), sum);
  }
  block.store_rows(rows_of(o, d.o, batch, query, head, d.queries), sum,
                   [&](int i) { return total[i] > 0 ? 1.0f / total[i] : 0.0f; });
  if (block.across == 0)
    for (int i = 0; i < B::rows; ++i)
      if (block.row + i < queries.count)
        store(lse + (batch * d.heads + head) * d.queries + query + block.row + i, largest[i] * kLn2 + ::logf(total[i]));
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

// The tensors that both backward kernels read.
template <class T> struct Backward {
  const T *q, *k, *v, *o;
  const float *lse;
  const T *dout;
  Places places;
};

// Weights and gradients of the scores of one tile; the gradients lack the scale.
template <class T, int D, bool Capped> struct TileGradients {
  using B = Block<D>;
  float weights[B::rows][kColumns], gradients[B::rows][kColumns];

  // `means` has one number for each query: the dot product of its output gradient and its output.
  __device__ TileGradients(const B &block, const Pairs<D> &pairs, const br_attention_desc &d, const Backward<T> &in,
                           const Shared<float, kTile> &means, int64_t batch, int64_t head, int64_t query, int64_t key) {
    const Scores<Capped> scores(d);
    const int64_t key_head = head / (d.heads / d.key_heads);
    const Rows<const T> o = rows_of(in.o, d.o, batch, query, head, d.queries);
    block.products(rows_of(in.q, d.q, batch, query, head, d.queries), rows_of(in.k, d.k, batch, key, key_head, d.keys),
                   weights);
    float mean[B::rows] = {};
    block.products(rows_of(in.dout, d.dout, batch, query, head, d.queries),
                   rows_of(in.v, d.v, batch, key, key_head, d.keys), gradients, [&](int r, int column, float gradient) {
                     if (B::loaded_row(r) < o.count && column < D)
                       mean[r] += gradient * to_float(load(o.at + B::loaded_row(r) * o.stride + column));
                   });
    for (int r = 0; r < B::rows; ++r) {
      mean[r] = B::sum_across(mean[r]);
      if (block.across == 0)
        means.put(B::loaded_row(r), mean[r]);
    }
    block_barrier();
    for (int i = 0; i < B::rows; ++i) {
      const float *row_lse = in.lse + (batch * d.heads + head) * d.queries + query + block.row + i;
      const float lse = block.row + i < o.count ? load(row_lse) * kLog2E : 0.0f, from = means.get(block.row + i);
      for (int j = 0; j < kColumns; ++j) {
        const float score = scores.of(weights[i][j]);
        weights[i][j] = pairs.counts(i, j) ? exp2_approx(score - lse) : 0.0f;
        gradients[i][j] = pairs.counts(i, j) ? weights[i][j] * (gradients[i][j] - from) * scores.slope(score) : 0.0f;
      }
    }
  }

  // Store a square in the block's shared memory, with rows for keys or for queries.
  __device__ static void put_by_keys(const B &block, const float (&from)[B::rows][kColumns]) {
    for (int i = 0; i < B::rows; ++i)
      for (int j = 0; j < kColumns; ++j)
        block.weights.put((block.row + i) * kPitch + block.across + kAcross * j, from[i][j]);
  }
  __device__ static void put_by_queries(const B &block, const float (&from)[B::rows][kColumns]) {
    for (int i = 0; i < B::rows; ++i)
      for (int j = 0; j < kColumns; ++j)
        block.weights.put((block.across + kAcross * j) * kPitch + block.row + i, from[i][j]);
  }
};

// A block computes one tile of keys of a key head, summed over all query heads that read it.
template <class T, int D, bool Capped>
__global__ void __launch_bounds__(threads_of<D>)
    attention_grad_keys_kernel(br_attention_desc d, Backward<T> in, T *dk, T *dv) {
  enter_kernel();
  using B = Block<D>;
  __shared__ float operand_memory[B::slice], weight_memory[B::square], mean_memory[kTile];
  const B block(operand_memory, weight_memory);
  const Shared<float, kTile> means(mean_memory);
  const int64_t tiles = tiles_of(d.keys), group = d.heads / d.key_heads, key = blockIdx.x % tiles * kTile;
  const int64_t key_head = blockIdx.x / tiles % d.key_heads, batch = blockIdx.x / tiles / d.key_heads;

  float sum_dk[B::rows][B::wide] = {}, sum_dv[B::rows][B::wide] = {};
  int64_t begin, end;
  Band(d, in.places).queries(key, least(kTile, d.keys - key), d.queries, begin, end);
  for (int64_t head = key_head * group; head < (key_head + 1) * group; ++head)
    for (int64_t query = begin * kTile; query < end * kTile; query += kTile) {
      const Pairs<D> pairs(block, d, in.places, batch, query, key);
      if (pairs.is_empty)
        continue;
      using Tile = TileGradients<T, D, Capped>;
      const Tile tile(block, pairs, d, in, means, batch, head, query, key);
      Tile::put_by_keys(block, tile.weights);
      block.add_rows(rows_of(in.dout, d.dout, batch, query, head, d.queries), sum_dv);
      Tile::put_by_keys(block, tile.gradients);
      block.add_rows(rows_of(in.q, d.q, batch, query, head, d.queries), sum_dk);
    }
  const float scale = static_cast<float>(d.scale);
  block.store_rows(rows_of(dk, d.dk, batch, key, key_head, d.keys), sum_dk, [&](int) { return scale; });
  block.store_rows(rows_of(dv, d.dv, batch, key, key_head, d.keys), sum_dv, [](int) { return 1.0f; });
}

// A block computes one tile of queries of a head.
template <class T, int D, bool Capped>
__global__ void __launch_bounds__(threads_of<D>)
    attention_grad_queries_kernel(br_attention_desc d, Backward<T> in, T *dq) {
  enter_kernel();
  using B = Block<D>;
  __shared__ float operand_memory[B::slice], weight_memory[B::square], mean_memory[kTile];
  const B block(operand_memory, weight_memory);
  const Shared<float, kTile> means(mean_memory);
  const int64_t tiles = tiles_of(d.queries), head = blockIdx.x / tiles % d.heads, batch = blockIdx.x / tiles / d.heads;
  const int64_t query = (tiles - 1 - blockIdx.x % tiles) * kTile, key_head = head / (d.heads / d.key_heads);

  float sum[B::rows][B::wide] = {};
  int64_t begin, end;
  Band(d, in.places).keys(query, least(kTile, d.queries - query), d.keys, begin, end);
  for (int64_t key = begin * kTile; key < end * kTile; key += kTile) {
    const Pairs<D> pairs(block, d, in.places, batch, query, key);
    if (pairs.is_empty)
      continue;
    using Tile = TileGradients<T, D, Capped>;
    const Tile tile(block, pairs, d, in, means, batch, head, query, key);
    Tile::put_by_queries(block, tile.gradients);
    block.add_rows(rows_of(in.k, d.k, batch, key, key_head, d.keys), sum);
  }
  const float scale = static_cast<float>(d.scale);
  block.store_rows(rows_of(dq, d.dq, batch, query, head, d.queries), sum, [&](int) { return scale; });
}
} // namespace attention_tiles

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

// T is the element type, D the size of a head.
template <class T, int D, bool Capped = false>
inline void attention(const Memory &m, const br_attention_desc &d, const T *q, const T *k, const T *v, T *o, float *lse,
                      const attention_tiles::Places &places = {}) {
  using namespace attention_tiles;
  launch(m, d.batch * d.heads * tiles_of(d.queries), threads_of<D>, preloaded<attention_kernel<T, D, Capped>>(), d, q,
         k, v, places, o, lse);
}

template <class T, int D, bool Capped = false>
inline void attention_grad(const Memory &m, const br_attention_desc &d, const T *q, const T *k, const T *v, const T *o,
                           const float *lse, const T *dout, T *dq, T *dk, T *dv,
                           const attention_tiles::Places &places = {}) {
  using namespace attention_tiles;
  const Backward<T> in = {q, k, v, o, lse, dout, places};
  launch(m, d.batch * d.key_heads * tiles_of(d.keys), threads_of<D>,
         preloaded<attention_grad_keys_kernel<T, D, Capped>>(), d, in, dk, dv);
  launch(m, d.batch * d.heads * tiles_of(d.queries), threads_of<D>,
         preloaded<attention_grad_queries_kernel<T, D, Capped>>(), d, in, dq);
}

} // namespace braid
#endif // BRAID_CUDA_ATTENTIONTILES_H
