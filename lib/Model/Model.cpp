//===- Model.cpp - dispatch on the family, and pieces models share --------===//

#include "lib/Model/Model.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <charconv>

using namespace llvm;
using namespace braid;

namespace {
/// Positions that the model can tell apart; 0: it has no sequence.
struct PositionsOf {
  int64_t operator()(const Gpt2Config &config) const { return config.positions; }
  int64_t operator()(const LlamaConfig &config) const { return config.positions; }
  int64_t operator()(const MlpConfig &) const { return 0; }
};

struct Build {
  BatchShape shape;
  ModelGraph operator()(const Gpt2Config &config) const { return buildGpt2(config, shape); }
  ModelGraph operator()(const LlamaConfig &config) const { return buildLlama(config, shape); }
  ModelGraph operator()(const MlpConfig &config) const { return buildMlp(config, shape); }
};
} // namespace

Expected<ModelGraph> braid::buildModel(const ModelConfig &config, BatchShape shape) {
  int64_t positions = std::visit(PositionsOf{}, config);
  if (!positions && shape.sequence)
    return createStringError("--seq does not apply to a model without a sequence");
  if (positions && (shape.sequence < 1 || shape.sequence > positions))
    return createStringError("--seq must be from 1 to the model's %lld positions, found %lld", (long long)positions,
                             (long long)shape.sequence);
  return std::visit(Build{shape}, config);
}

std::string model::number(double value) {
  char buffer[32];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  std::string text(buffer, end);
  // MLIR's float literals need a point.
  if (text.find('.') == std::string::npos)
    text.insert(text.find('e'), ".0");
  return text;
}

std::string model::normalInit(double std, int64_t layers) {
  std::string text = "init<normal, 0.0, " + number(std);
  if (layers)
    text += " layers " + std::to_string(layers);
  return text + ">";
}

GraphValue model::dropout(GraphWriter &writer, const GraphValue &x, const GraphValue &key, double rate,
                          int64_t &stream) {
  if (rate == 0)
    return x;
  return writer.op("dropped",
                   "tg.dropout " + x.name + ", " + key.name + " rate " + number(rate) + " stream " +
                       std::to_string(stream++),
                   {x, key}, x.shape);
}

GraphValue model::attention(GraphWriter &writer, const GraphValue &q, const GraphValue &k, const GraphValue &v,
                            double scale, double dropoutRate, const GraphValue &key, int64_t &stream) {
  int64_t batch = q.shape[0], sequence = q.shape[1], heads = q.shape[2], kvHeads = k.shape[2], size = q.shape[3];
  if (dropoutRate == 0) {
    GraphValue lse{"", {batch, heads, sequence}};
    return writer.ops({"attended", "lse"},
                      "tg.attention " + q.name + ", " + k.name + ", " + v.name + " scale " + number(scale) + " causal",
                      {q, k, v}, {q, lse})[0];
  }
  int64_t group = heads / kvHeads;
  SmallVector<int64_t, 4> scores = {batch, kvHeads, group, sequence, sequence};
  GraphValue grouped = writer.reshape("q", q, {batch, sequence, kvHeads, group, size});
  GraphValue raw = writer.contract("scores", "bskgh,btkh->bkgst", grouped, k, scores);
  GraphValue scaled = writer.mul("scaled", raw, writer.constant("scale", number(scale), scores));
  GraphValue row{"", scores, "i32"};
  GraphValue from = writer.same("row", "tg.iota dim 3", row), to = writer.same("column", "tg.iota dim 4", row);
  GraphValue visible = writer.same("visible", "arith.cmpi sge, " + from.name + ", " + to.name, row);
  visible.element = "i1";
  GraphValue minus = writer.constant("minus_infinity", "0xFF800000", scores);
  GraphValue masked = writer.select("masked", visible, scaled, minus);
  GraphValue weights = writer.same("weights", "tg.softmax " + masked.name, masked);
  GraphValue kept = dropout(writer, weights, key, dropoutRate, stream);
  GraphValue out = writer.contract("attended", "bkgst,btkh->bskgh", kept, v, grouped.shape);
  return writer.reshape("attended", out, q.shape);
}
