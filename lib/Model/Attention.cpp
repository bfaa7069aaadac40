//===- Attention.cpp - attention in the graph of a model ------------------===//

#include "lib/Model/Model.h"

using namespace llvm;
using namespace braid;

GraphValue model::softcap(GraphWriter &writer, const GraphValue &x, double cap) {
  GraphValue share = writer.mul("share", x, writer.constant("inverse_cap", number(1 / cap), x.shape));
  GraphValue bent = writer.same("bent", "math.tanh " + share.name, share);
  return writer.mul("capped", bent, writer.constant("cap", number(cap), x.shape));
}

/// Of each score, whether the query, along dim 3, counts the key, along dim 4.
static GraphValue countsOf(GraphWriter &writer, ArrayRef<int64_t> scores, const model::Scores &how) {
  GraphValue row{"", SmallVector<int64_t, 4>(scores), "i32"};
  GraphValue from = writer.same("row", "tg.iota dim 3", row), to = writer.same("column", "tg.iota dim 4", row);
  auto compare = [&](StringRef hint, const GraphValue &a, StringRef how, const GraphValue &b) {
    GraphValue result = writer.same(hint, ("arith.cmpi " + how + ", " + a.name + ", " + b.name).str(), row);
    result.element = "i1";
    return result;
  };
  GraphValue visible = compare("visible", from, "sge", to);
  if (how.documents) {
    GraphValue ofQuery = writer.broadcast("of_query", *how.documents, {0, 3}, scores);
    GraphValue ofKey = writer.broadcast("of_key", *how.documents, {0, 4}, scores);
    visible = writer.both("visible", visible, compare("same", ofQuery, "eq", ofKey));
  }
  if (!how.window)
    return visible;
  GraphValue size = writer.constant("window", std::to_string(how.window), scores, "i32");
  GraphValue end = writer.same("end", "arith.addi " + to.name + ", " + size.name, row);
  GraphValue near = compare("near", end, "sgt", from);
  return writer.both("counts", visible, near);
}

GraphValue model::attention(GraphWriter &writer, const GraphValue &q, const GraphValue &k, const GraphValue &v,
                            const Scores &how, double dropoutRate, const GraphValue &key, int64_t &stream) {
  int64_t batch = q.shape[0], sequence = q.shape[1], heads = q.shape[2], kvHeads = k.shape[2], size = q.shape[3];
  if (dropoutRate == 0) {
    GraphValue lse{"", {batch, heads, sequence}};
    std::string words = " scale " + number(how.scale) + " causal";
    words += how.window ? " window " + std::to_string(how.window) : "";
    words += how.softcap ? " softcap " + number(how.softcap) : "";
    SmallVector<GraphValue> operands = {q, k, v};
    std::string text = "tg.attention " + q.name + ", " + k.name + ", " + v.name;
    if (how.documents) {
      operands.push_back(*how.documents);
      text += ", " + how.documents->name;
    }
    return writer.ops({"attended", "lse"}, text + words, operands, {q, lse})[0];
  }
  int64_t group = heads / kvHeads;
  SmallVector<int64_t, 4> scores = {batch, kvHeads, group, sequence, sequence};
  GraphValue grouped = writer.reshape("q", q, {batch, sequence, kvHeads, group, size});
  GraphValue raw = writer.contract("scores", "bskgh,btkh->bkgst", grouped, k, scores);
  GraphValue scaled = writer.mul("scaled", raw, writer.constant("scale", number(how.scale), scores));
  if (how.softcap)
    scaled = softcap(writer, scaled, how.softcap);
  GraphValue counts = countsOf(writer, scores, how);
  GraphValue minus = writer.constant("minus_infinity", "0xFF800000", scores);
  GraphValue masked = writer.select("masked", counts, scaled, minus);
  GraphValue weights = writer.same("weights", "tg.softmax " + masked.name, masked);
  GraphValue kept = dropout(writer, weights, key, dropoutRate, stream);
  GraphValue out = writer.contract("attended", "bkgst,btkh->bskgh", kept, v, grouped.shape);
  return writer.reshape("attended", out, q.shape);
}
