//===- Gpt2.cpp - the GPT-2 family as a graph -----------------------------===//
//
// Names and layouts are Hugging Face's: the weights of its Conv1D are k x n.
//
//===----------------------------------------------------------------------===//

#include "lib/Model/Decoder.h"
#include <cmath>

using namespace llvm;
using namespace braid;

namespace {
class Gpt2Builder : DecoderBuilder {
public:
  Gpt2Builder(const Gpt2Config &config, BatchShape shape)
      : DecoderBuilder(shape, config.vocab, config.width, config.initStd, Weights::FromTo), config(config) {}

  ModelGraph build();

private:
  struct Norm {
    GraphValue weight, bias;
  };
  struct Block {
    Norm first, second;
    Linear qkv, out, up, down;
  };

  Norm declareNorm(const std::string &name, const std::string &unit);
  Block declareBlock(const std::string &name, const std::string &unit);
  GraphValue norm(const GraphValue &x, const Norm &params);
  GraphValue attend(const GraphValue &x, const Block &block, int64_t layer);
  GraphValue runBlock(GraphValue x, const Block &block, int64_t layer);
  GraphValue embed(const GraphValue &wte, const GraphValue &wpe);
  bool hasDropout() const {
    return config.embedDropout > 0 || config.residualDropout > 0 || config.attentionDropout > 0;
  }

  const Gpt2Config &config;
};
} // namespace

Gpt2Builder::Norm Gpt2Builder::declareNorm(const std::string &name, const std::string &unit) {
  GraphValue weight = writer.param(name + ".weight", {config.width}, "init<ones>", unit);
  return {weight, writer.param(name + ".bias", {config.width}, "init<zeros>", unit)};
}

Gpt2Builder::Block Gpt2Builder::declareBlock(const std::string &name, const std::string &unit) {
  Block block;
  block.first = declareNorm(name + ".ln_1", unit);
  block.qkv = declareLinear(name + ".attn.c_attn", config.width, 3 * config.width, true, unit);
  block.out = declareLinear(name + ".attn.c_proj", config.width, config.width, true, unit, config.layers);
  block.second = declareNorm(name + ".ln_2", unit);
  block.up = declareLinear(name + ".mlp.c_fc", config.width, config.inner, true, unit);
  block.down = declareLinear(name + ".mlp.c_proj", config.inner, config.width, true, unit, config.layers);
  return block;
}

GraphValue Gpt2Builder::norm(const GraphValue &x, const Norm &params) {
  GraphValue rows{"", {shape.batch, shape.sequence}};
  return writer.ops({"normed", "mean", "rstd"},
                    "tg.layer_norm " + x.name + ", " + params.weight.name + ", " + params.bias.name + " eps " +
                        model::number(config.eps),
                    {x, params.weight, params.bias}, {x, rows, rows})[0];
}

GraphValue Gpt2Builder::attend(const GraphValue &x, const Block &block, int64_t layer) {
  int64_t width = config.width, headSize = width / config.heads;
  GraphValue qkv = linear("qkv", x, block.qkv);
  auto part = [&](StringRef name, int64_t index) {
    GraphValue flat = writer.slice(name, qkv, 2, index * width, width);
    return writer.reshape(name, flat, {shape.batch, shape.sequence, config.heads, headSize});
  };
  GraphValue q = part("q", 0), k = part("k", 1), v = part("v", 2);
  double scale = config.scaleAttention ? 1.0 / std::sqrt(static_cast<double>(headSize)) : 1.0;
  if (config.scaleByLayer)
    scale /= static_cast<double>(layer + 1);
  GraphValue joined = writer.reshape("joined", attention(q, k, v, scale, config.attentionDropout), hidden);
  return linear("projected", joined, block.out);
}

GraphValue Gpt2Builder::runBlock(GraphValue x, const Block &block, int64_t layer) {
  std::string name = "h." + std::to_string(layer);
  writer.enter(name + ".ln_1", "block " + std::to_string(layer));
  GraphValue normed = norm(x, block.first);
  writer.enter(name + ".attn");
  GraphValue attended = drop(attend(normed, block, layer), config.residualDropout);
  x = writer.add("residual", x, attended);
  writer.enter(name + ".ln_2");
  normed = norm(x, block.second);
  writer.enter(name + ".mlp");
  GraphValue up = linear("up", normed, block.up);
  GraphValue active = writer.same("active", "tg." + config.activation + " " + up.name, up);
  return writer.add("residual", x, drop(linear("down", active, block.down), config.residualDropout));
}

GraphValue Gpt2Builder::embed(const GraphValue &wte, const GraphValue &wpe) {
  writer.enter("embedding", "token and position embedding");
  GraphValue token = lookUp("token", wte);
  GraphValue rows = shape.sequence == config.positions ? wpe : writer.slice("positions", wpe, 0, 0, shape.sequence);
  GraphValue position = writer.broadcast("position", rows, {1, 2}, hidden);
  return drop(writer.add("residual", token, position), config.embedDropout);
}

ModelGraph Gpt2Builder::build() {
  GraphValue wte = declareTable("transformer.wte.weight", config.vocab, "embedding");
  GraphValue wpe = declareTable("transformer.wpe.weight", config.positions, "embedding");
  std::vector<Block> blocks;
  for (int64_t layer = 0; layer < config.layers; ++layer)
    blocks.push_back(declareBlock("transformer.h." + std::to_string(layer), "h." + std::to_string(layer)));
  Norm last = declareNorm("transformer.ln_f", headUnit(config.tied).str());
  GraphValue head = declareHead(wte, config.tied);
  declareInputs(hasDropout());

  GraphValue x = embed(wte, wpe);
  for (int64_t layer = 0; layer < config.layers; ++layer)
    x = runBlock(x, blocks[layer], layer);
  writer.enter("ln_f", "head and loss");
  return finish(norm(x, last), head,
                "GPT-2: " + std::to_string(config.layers) + " layers, width " + std::to_string(config.width) + ", " +
                    std::to_string(config.heads) + " heads, vocabulary " + std::to_string(config.vocab) +
                    (config.tied ? ", tied head" : ""));
}

ModelGraph braid::buildGpt2(const Gpt2Config &config, BatchShape shape) { return Gpt2Builder(config, shape).build(); }
