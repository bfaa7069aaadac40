//===- Llama.cpp - the Llama family as a graph ----------------------------===//
//
// Names and layouts are Hugging Face's: weights are n x k.
//
//===----------------------------------------------------------------------===//

#include "lib/Model/Decoder.h"
#include <cmath>

using namespace llvm;
using namespace braid;

namespace {
class LlamaBuilder : DecoderBuilder {
public:
  LlamaBuilder(const LlamaConfig &config, BatchShape shape)
      : DecoderBuilder(shape, config.vocab, config.width, config.initStd, Weights::ToFrom), config(config) {}

  ModelGraph build();

private:
  struct Block {
    GraphValue first, second;
    Linear q, k, v, out, gate, up, down;
  };

  Block declareBlock(int64_t layer);
  GraphValue norm(const GraphValue &x, const GraphValue &weight);
  GraphValue heads(StringRef hint, const GraphValue &x, const Linear &params, int64_t count, bool rotate);
  GraphValue runBlock(GraphValue x, const Block &block, int64_t layer);

  const LlamaConfig &config;
};
} // namespace

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
  return writer.ops({"normed", "rrms"},
                    "tg.rms_norm " + x.name + ", " + weight.name + " eps " + model::number(config.eps), {x, weight},
                    {x, rows})[0];
}

GraphValue LlamaBuilder::heads(StringRef hint, const GraphValue &x, const Linear &params, int64_t count, bool rotate) {
  GraphValue split =
      writer.reshape(hint, linear(hint, x, params), {shape.batch, shape.sequence, count, config.headSize});
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
  GraphValue out = attention(q, k, v, scale, config.attentionDropout);
  GraphValue joined = writer.reshape("joined", out, {shape.batch, shape.sequence, config.heads * config.headSize});
  x = writer.add("residual", x, linear("projected", joined, block.out));
  writer.enter(name + ".post_attention_layernorm");
  normed = norm(x, block.second);
  writer.enter(name + ".mlp");
  GraphValue gate = linear("gate", normed, block.gate), up = linear("up", normed, block.up);
  GraphValue active = writer.same("active", "tg." + config.activation + " " + gate.name, gate);
  return writer.add("residual", x, linear("down", writer.mul("gated", active, up), block.down));
}

ModelGraph LlamaBuilder::build() {
  GraphValue table = declareTable("model.embed_tokens.weight", config.vocab, "embedding");
  std::vector<Block> blocks;
  for (int64_t layer = 0; layer < config.layers; ++layer)
    blocks.push_back(declareBlock(layer));
  GraphValue last = writer.param("model.norm.weight", {config.width}, "init<ones>", headUnit(config.tied));
  GraphValue head = declareHead(table, config.tied);
  declareInputs(config.attentionDropout > 0);

  writer.enter("embed_tokens", "token embedding");
  GraphValue x = lookUp("x", table);
  for (int64_t layer = 0; layer < config.layers; ++layer)
    x = runBlock(x, blocks[layer], layer);
  writer.enter("norm", "head and loss");
  return finish(norm(x, last), head,
                "Llama: " + std::to_string(config.layers) + " layers, width " + std::to_string(config.width) + ", " +
                    std::to_string(config.heads) + " heads (" + std::to_string(config.kvHeads) +
                    " for keys and values), vocabulary " + std::to_string(config.vocab) +
                    (config.tied ? ", tied head" : ""));
}

ModelGraph braid::buildLlama(const LlamaConfig &config, BatchShape shape) {
  return LlamaBuilder(config, shape).build();
}
