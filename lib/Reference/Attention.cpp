//===- Attention.cpp - scaled dot-product attention and its gradient ------===//
//
// Computes one query row at a time: batch b, head h, position s.  Query, key and value
// are batch x sequence x heads x size; several query heads share a key head.  One
// function evaluates both the op of the graph and the library call.
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/Exec.h"
#include "dialects/TG/TG.h"
#include "lib/Reference/OpTable.h"
#include "lib/Reference/Rows.h"
#include <cmath>

using namespace mlir;
using namespace braid;
using namespace braid::reference;

namespace {
/// Sizes of an attention op, and the first elements of the rows of its tensors.
struct Geometry {
  template <typename Op>
  Geometry(Op op, const Operands &in)
      : Geometry(in(op.getQuery()), in(op.getKey()), op.getMask(),
                 op.getDocuments() ? &in(op.getDocuments()) : nullptr) {
    if constexpr (requires { op.getQueryStart(); })
      if (op.getQueryStart()) {
        keyStart = in(op.getKeyStart()).n(0);
        first = in(op.getQueryStart()).n(0) - keyStart;
      }
  }

  int64_t query(int64_t b, int64_t s, int64_t h) const { return ((b * queries + s) * heads + h) * size; }
  int64_t key(int64_t b, int64_t t, int64_t h) const {
    return ((b * keys + t) * keyHeads + h / (heads / keyHeads)) * size;
  }
  int64_t row(int64_t b, int64_t h, int64_t s) const { return (b * heads + h) * queries + s; }
  /// Returns the keys that position s sees, in order.
  std::vector<int64_t> counted(int64_t b, int64_t s) const {
    std::vector<int64_t> found;
    for (int64_t t = 0; t < keys; ++t)
      if (counts(t, s + first) && (!documents || document(b, t) == document(b, s + first)))
        found.push_back(t);
    return found;
  }

  template <typename Visit> void forEachRow(Visit visit) const {
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t s = 0; s < queries; ++s)
          visit(b, h, s);
  }

  int64_t batch, queries, heads, size, keys, keyHeads;
  tg::MaskAttr mask;

private:
  Geometry(const Tensor &query, const Tensor &key, tg::MaskAttr mask, const Tensor *documents)
      : batch(query.shape[0]), queries(query.shape[1]), heads(query.shape[2]), size(query.shape[3]), keys(key.shape[1]),
        keyHeads(key.shape[2]), mask(mask), documents(documents), first(mask.getFirst()) {}

  /// Returns whether the mask keeps a pair; both positions are relative to the first key.
  bool counts(int64_t key, int64_t query) const {
    return !mask.getCausal() || (key <= query && (!mask.hasWindow() || key > query - mask.getWindow()));
  }
  int64_t document(int64_t b, int64_t key) const { return documents->n(b * documents->shape[1] + keyStart + key); }

  const Tensor *documents; ///< May be null.
  /// Position of the first query relative to the first key, and position of the first key.
  int64_t first, keyStart = 0;
};

/// A score, and its derivative with respect to the scaled product.
struct Score {
  double value, slope;
};
} // namespace

static double dot(const Tensor &a, int64_t i, const Tensor &b, int64_t j, int64_t size) {
  double sum = 0;
  for (int64_t e = 0; e < size; ++e)
    sum += a.f(i + e) * b.f(j + e);
  return sum;
}

template <typename Op> static Score scoreOf(Op op, double product) {
  double scaled = op.getScale().convertToDouble() * product;
  if (!op.getSoftcap())
    return {scaled, 1};
  double cap = op.getSoftcap()->convertToDouble(), bent = std::tanh(scaled / cap);
  return {cap * bent, 1 - bent * bent};
}

/// Returns the weight after dropout, given its row of scores and its key.
using Keep = llvm::function_ref<double(int64_t row, int64_t key, double weight)>;

/// Returns the output and the log-sum-exp of each row.
template <typename Op>
static std::pair<Tensor, Tensor> attend(Op op, const Operands &in, RankedTensorType rows, Keep keep) {
  const Tensor &q = in(op.getQuery()), &k = in(op.getKey()), &v = in(op.getValue());
  Tensor o(resultType(op, 0)), lse(rows);
  Geometry g(op, in);
  g.forEachRow([&](int64_t b, int64_t h, int64_t s) {
    const std::vector<int64_t> counted = g.counted(b, s);
    std::vector<double> scores;
    for (int64_t t : counted)
      scores.push_back(scoreOf(op, dot(q, g.query(b, s, h), k, g.key(b, t, h), g.size)).value);
    double rowLse = lse.f(g.row(b, h, s)) = logSumExp(scores.size(), [&](int64_t i) { return scores[i]; });
    for (auto [t, score] : llvm::zip(counted, scores))
      for (int64_t e = 0; e < g.size; ++e)
        o.f(g.query(b, s, h) + e) += keep(g.row(b, h, s), t, std::exp(score - rowLse)) * v.f(g.key(b, t, h) + e);
  });
  return {std::move(o), std::move(lse)};
}

template <typename Op> static Results evaluateAttention(Op op, const Operands &in) {
  auto [o, lse] = attend(op, in, resultType(op, 1), [](int64_t, int64_t, double weight) { return weight; });
  return results(std::move(o), std::move(lse));
}

static Results evaluateDropoutAttention(tg::DropoutAttentionOp op, const Operands &in) {
  const Tensor &q = in(op.getQuery());
  int64_t keys = in(op.getKey()).shape[1];
  SmallVector<int64_t> rows{q.shape[0], q.shape[2], q.shape[1]}, weights(rows);
  weights.push_back(keys);
  // Scores of bf16 attention are f32.
  Type element = q.elementType.isBF16() ? Float32Type::get(op.getContext()) : q.elementType;
  Tensor uniform(weights, element);
  fillUniform(in(op.getRandom()), op.getStream(), uniform);
  uniform.round();
  double rate = op.getRate().convertToDouble(), threshold = roundTo(element, rate);
  auto keep = [&](int64_t row, int64_t key, double weight) {
    return uniform.f(row * keys + key) >= threshold ? weight / (1 - rate) : 0;
  };
  return results(attend(op, in, RankedTensorType::get(rows, element), keep).first);
}

template <typename Op> static Results evaluateAttentionGrad(Op op, const Operands &in) {
  const Tensor &q = in(op.getQuery()), &k = in(op.getKey()), &v = in(op.getValue());
  const Tensor &o = in(op.getOutput()), &lse = in(op.getLse()), &dout = in(op.getGradient());
  Tensor dq(resultType(op, 0)), dk(resultType(op, 1)), dv(resultType(op, 2));
  Geometry g(op, in);
  double scale = op.getScale().convertToDouble();
  g.forEachRow([&](int64_t b, int64_t h, int64_t s) {
    int64_t query = g.query(b, s, h);
    double mean = dot(dout, query, o, query, g.size);
    for (int64_t t : g.counted(b, s)) {
      int64_t key = g.key(b, t, h);
      Score score = scoreOf(op, dot(q, query, k, key, g.size));
      double p = std::exp(score.value - lse.f(g.row(b, h, s)));
      double dscore = scale * score.slope * p * (dot(dout, query, v, key, g.size) - mean);
      for (int64_t e = 0; e < g.size; ++e) {
        dq.f(query + e) += dscore * k.f(key + e);
        dk.f(key + e) += dscore * q.f(query + e);
        dv.f(key + e) += p * dout.f(query + e);
      }
    }
  });
  return results(std::move(dq), std::move(dk), std::move(dv));
}

void braid::reference::addAttention(OpTable &table) {
  table.addAll(evaluateAttention<tg::AttentionOp>, evaluateDropoutAttention, evaluateAttentionGrad<tg::AttentionGradOp>,
               evaluateAttention<exec::AttentionOp>, evaluateAttentionGrad<exec::AttentionGradOp>);
}
