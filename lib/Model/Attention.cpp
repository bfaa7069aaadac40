//===- Attention.cpp - attention in the graph of a model ------------------===//

#include "lib/Model/Model.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace braid;

GraphValue model::softcap(GraphWriter &writer, const GraphValue &x, double cap) {
  GraphValue share = writer.mul("share", x, writer.constant("inverse_cap", number(1 / cap), x.shape));
  GraphValue bent = writer.addOpLike("bent", "math.tanh " + share.name, share);
  return writer.mul("capped", bent, writer.constant("cap", number(cap), x.shape));
}

GraphValue model::attention(GraphWriter &writer, const GraphValue &q, const GraphValue &k, const GraphValue &v,
                            const Scores &scores, double dropoutRate, const GraphValue &key, int64_t &stream) {
  SmallVector<GraphValue> operands = {q, k, v};
  if (dropoutRate)
    operands.push_back(key);
  if (scores.documents)
    operands.push_back(*scores.documents);
  std::string text = join(map_range(operands, [](const GraphValue &operand) { return operand.name; }), ", ");
  text += " scale " + number(scores.scale) + " causal";
  text += scores.window ? " window " + std::to_string(scores.window) : "";
  text += scores.softcap ? " softcap " + number(scores.softcap) : "";
  if (dropoutRate) {
    text += " rate " + number(dropoutRate) + " stream " + std::to_string(stream++);
    return writer.ops({"attended"}, "tg.dropout_attention " + text, operands, {q})[0];
  }
  GraphValue lse{"", {q.shape[0], q.shape[2], q.shape[1]}};
  return writer.ops({"attended", "lse"}, "tg.attention " + text, operands, {q, lse})[0];
}
