//===- Llama.cpp - the Llama family as a graph ----------------------------===//
//
// Names and layouts are Hugging Face's: weights are n x k.
//
//===----------------------------------------------------------------------===//

#include "lib/Model/Model.h"
#include <cmath>
#include <optional>

using namespace llvm;
using namespace braid;

namespace {
class LlamaBuilder {
public:
  LlamaBuilder(const LlamaConfig &config, BatchShape shape)
      : config(config), shape(shape), hidden({shape.batch, shape.sequence, config.width}) {}

  ModelGraph build();

private:
  struct Linear {
    GraphValue weight;
    std::optional<GraphValue> bias;
    int64_t to;
  };
  struct Block {
    GraphValue first, second;
    Linear q, k, v, out, gate, up, down;
  };

  Linear declareLinear(const std::string &name, int64_t from, int64_t to, bool bias, const std::string &unit);
  Block declareBlock(int64_t layer);
  GraphValue norm(const GraphValue &x, const GraphValue &weight);
  GraphValue linear(StringRef hint, const GraphValue &x, const Linear &params);
  GraphValue heads(StringRef hint, const GraphValue &x, const Linear &params, int64_t count, bool rotate);
  GraphValue runBlock(GraphValue x, const Block &block, int64_t layer);

  const LlamaConfig &config;
  BatchShape shape;
  SmallVector<int64_t, 4> hidden;
  GraphWriter writer;
  GraphValue key;
  int64_t stream = 0; // of the next dropout
};
} // namespace

LlamaBuilder::Linear LlamaBuilder::declareLinear(const std::string &name, int64_t from, int64_t to, bool bias,
                                                 const std::string &unit) {
  Linear params{writer.param(name + ".weight", {to, from}, model::normalInit(config.initStd), unit), std::nullopt, to};
  if (bias)
    params.bias = writer.param(name + ".bias", {to}, "init<zeros>", unit);
  return params;
}

LlamaBuilder::Block LlamaBuilder::declareBlock(int64_t layer) {
  std::string unit = "layers." + std::to_string(layer), name = "model." + unit;
  int64_t width = config.width, queries = config.heads * config.headSize, keys = config.kvHeads * config.headSize;
  Block block;
  block.q = declareLinear(name + ".self_attn.q_proj", width, queries, config.attentionBias, unit);
  block.k = declareLinear(name + ".self_attn.k_proj", width, keys, config.attentionBias, unit);
  block.v = declareLinear(name + ".self_attn.v_proj", width, keys, config.attentionBias, unit);
  block.out = declareLinear(name + ".self_attn.o_proj", queries, width, config.attentionBias, unit);
  block.gate = declareLinear(name + ".mlp.gate_proj", width, config.inner, config.mlpBias, unit);
  block.up = declareLinear(name + ".mlp.up_proj", width, config.inner, config.mlpBias, unit);
  block.down = declareLinear(name + ".mlp.down_proj", config.inner, width, config.mlpBias, unit);
  block.first = writer.param(name + ".input_layernorm.weight", {width}, "init<ones>", unit);
  block.second = writer.param(name + ".post_attention_layernorm.weight", {width}, "init<ones>", unit);
  return block;
}

GraphValue LlamaBuilder::norm(const GraphValue &x, const GraphValue &weight) {
  GraphValue rows{"", {shape.batch, shape.sequence}};
  return writer.ops({"normed", "rrms"}, "tg.rms_norm " + x.name + ", " + weight.name + " eps " + model::number(config.eps),
                    {x, weight}, {x, rows})[0];
}

GraphValue LlamaBuilder::linear(StringRef hint, const GraphValue &x, const Linear &params) {
  return writer.linear(hint, "bsd,ed->bse", x, params.weight, params.bias ? &*params.bias : nullptr,
                       {shape.batch, shape.sequence, params.to});
}

GraphValue LlamaBuilder::heads(StringRef hint, const GraphValue &x, const Linear &params, int64_t count, bool rotate) {
  GraphValue split = writer.reshape(hint, linear(hint, x, params), {shape.batch, shape.sequence, count, config.headSize});
  return rotate ? writer.same(hint, "tg.rope " + split.name + " theta " + model::number(config.theta), split) : split;
}

GraphValue LlamaBuilder::runBlock(GraphValue x, const Block &block, int64_t layer) {
  std::string name = "layers." + std::to_string(layer);
  writer.enter(name + ".input_layernorm", "block " + std::to_string(layer));
  GraphValue normed = norm(x, block.first);
  writer.enter(name + ".self_attn");
  GraphValue q = heads("q", normed, block.q, config.heads, true);
  GraphValue k = heads("k", normed, block.k, config.kvHeads, true);
  GraphValue v = heads("v", normed, block.v, config.kvHeads, false);
  double scale = 1.0 / std::sqrt(static_cast<double>(config.headSize));
  GraphValue out = model::attention(writer, q, k, v, scale, config.attentionDropout, key, stream);
  GraphValue joined = writer.reshape("joined", out, {shape.batch, shape.sequence, config.heads * config.headSize});
  x = writer.add("x", x, linear("projected", joined, block.out));
  writer.enter(name + ".post_attention_layernorm");
  normed = norm(x, block.second);
  writer.enter(name + ".mlp");
  GraphValue gate = linear("gate", normed, block.gate), up = linear("up", normed, block.up);
  GraphValue active = writer.same("active", "tg." + config.activation + " " + gate.name, gate);
  return writer.add("x", x, linear("down", writer.mul("gated", active, up), block.down));
}

ModelGraph LlamaBuilder::build() {
  GraphValue table = writer.param("model.embed_tokens.weight", {config.vocab, config.width}, model::normalInit(config.initStd), "embedding");
  std::vector<Block> blocks;
  for (int64_t layer = 0; layer < config.layers; ++layer)
    blocks.push_back(declareBlock(layer));
  GraphValue last = writer.param("model.norm.weight", {config.width}, "init<ones>", "head");
  GraphValue head = table;
  if (!config.tied)
    head = writer.param("lm_head.weight", {config.vocab, config.width}, model::normalInit(config.initStd), "head");
  GraphValue tokens = writer.input("tokens", "tokens", {shape.batch, shape.sequence}, "i32");
  GraphValue targets = writer.input("targets", "targets", {shape.batch, shape.sequence}, "i32");
  if (config.attentionDropout > 0)
    key = writer.input("key", "key", {4}, "i32");

  writer.enter("embed_tokens", "token embedding");
  GraphValue x = writer.op("x", "tg.gather " + table.name + ", " + tokens.name, {table, tokens}, hidden);
  for (int64_t layer = 0; layer < config.layers; ++layer)
    x = runBlock(x, blocks[layer], layer);
  writer.enter("norm", "head and loss");
  GraphValue normed = norm(x, last);
  writer.enter("lm_head");
  GraphValue logits = writer.contract("logits", "bsd,vd->bsv", normed, head, {shape.batch, shape.sequence, config.vocab});
  writer.enter("loss");
  GraphValue loss{"", {}}, lse{"", {shape.batch, shape.sequence}};
  loss = writer.ops({"loss", "lse"}, "tg.cross_entropy mean " + logits.name + ", " + targets.name + " ignore -100", {logits, targets}, {loss, lse})[0];

  std::string header = "Llama: " + std::to_string(config.layers) + " layers, width " + std::to_string(config.width) + ", " +
                       std::to_string(config.heads) + " heads (" + std::to_string(config.kvHeads) + " for keys and values), vocabulary " +
                       std::to_string(config.vocab) + (config.tied ? ", tied head" : "") + "\nbatch " +
                       std::to_string(shape.batch) + " x " + std::to_string(shape.sequence) + " tokens";
  return {writer.finish(header, {{loss, "loss"}, {logits, "logits"}}), writer.params()};
}

ModelGraph braid::buildLlama(const LlamaConfig &config, BatchShape shape) { return LlamaBuilder(config, shape).build(); }
