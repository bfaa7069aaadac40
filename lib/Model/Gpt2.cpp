//===- Gpt2.cpp - the GPT-2 family as a graph -----------------------------===//
//
// Names and layouts are Hugging Face's: the weights of its Conv1D are k x n.
//
//===----------------------------------------------------------------------===//

#include "lib/Model/Model.h"
#include <cmath>

using namespace llvm;
using namespace braid;

namespace {
class Gpt2Builder {
public:
  Gpt2Builder(const Gpt2Config &config, BatchShape shape)
      : config(config), shape(shape), hidden({shape.batch, shape.sequence, config.width}) {}

  ModelGraph build();

private:
  struct Linear {
    GraphValue weight, bias;
  };
  struct Norm {
    GraphValue weight, bias;
  };
  struct Block {
    Norm first, second;
    Linear qkv, out, up, down;
  };

  Linear declareLinear(const std::string &name, int64_t from, int64_t to, const std::string &unit, int64_t residualLayers = 0);
  Norm declareNorm(const std::string &name, const std::string &unit);
  Block declareBlock(const std::string &name, const std::string &unit);
  GraphValue norm(const GraphValue &x, const Norm &params);
  GraphValue attend(const GraphValue &x, const Block &block, int64_t layer);
  GraphValue runBlock(GraphValue x, const Block &block, int64_t layer);
  GraphValue embed(const GraphValue &tokens, const GraphValue &wte, const GraphValue &wpe);
  GraphValue drop(const GraphValue &x, double rate) { return model::dropout(writer, x, key, rate, stream); }
  bool hasDropout() const { return config.embedDropout > 0 || config.residualDropout > 0 || config.attentionDropout > 0; }

  const Gpt2Config &config;
  BatchShape shape;
  SmallVector<int64_t, 4> hidden;
  GraphWriter writer;
  GraphValue key;
  int64_t stream = 0; // of the next dropout
};
} // namespace

Gpt2Builder::Linear Gpt2Builder::declareLinear(const std::string &name, int64_t from, int64_t to,
                                               const std::string &unit, int64_t residualLayers) {
  GraphValue weight = writer.param(name + ".weight", {from, to}, model::normalInit(config.initStd, residualLayers), unit);
  return {weight, writer.param(name + ".bias", {to}, "init<zeros>", unit)};
}

Gpt2Builder::Norm Gpt2Builder::declareNorm(const std::string &name, const std::string &unit) {
  GraphValue weight = writer.param(name + ".weight", {config.width}, "init<ones>", unit);
  return {weight, writer.param(name + ".bias", {config.width}, "init<zeros>", unit)};
}

Gpt2Builder::Block Gpt2Builder::declareBlock(const std::string &name, const std::string &unit) {
  Block block;
  block.first = declareNorm(name + ".ln_1", unit);
  block.qkv = declareLinear(name + ".attn.c_attn", config.width, 3 * config.width, unit);
  block.out = declareLinear(name + ".attn.c_proj", config.width, config.width, unit, config.layers);
  block.second = declareNorm(name + ".ln_2", unit);
  block.up = declareLinear(name + ".mlp.c_fc", config.width, config.inner, unit);
  block.down = declareLinear(name + ".mlp.c_proj", config.inner, config.width, unit, config.layers);
  return block;
}

GraphValue Gpt2Builder::norm(const GraphValue &x, const Norm &params) {
  GraphValue rows{"", {shape.batch, shape.sequence}};
  return writer.ops({"normed", "mean", "rstd"},
                    "tg.layer_norm " + x.name + ", " + params.weight.name + ", " + params.bias.name + " eps " + model::number(config.eps),
                    {x, params.weight, params.bias}, {x, rows, rows})[0];
}

GraphValue Gpt2Builder::attend(const GraphValue &x, const Block &block, int64_t layer) {
  int64_t width = config.width, headSize = width / config.heads;
  GraphValue qkv = writer.linear("qkv", "bsd,de->bse", x, block.qkv.weight, &block.qkv.bias, {shape.batch, shape.sequence, 3 * width});
  auto part = [&](StringRef name, int64_t index) {
    GraphValue flat = writer.slice(name, qkv, 2, index * width, width);
    return writer.reshape(name, flat, {shape.batch, shape.sequence, config.heads, headSize});
  };
  GraphValue q = part("q", 0), k = part("k", 1), v = part("v", 2);
  double scale = config.scaleAttention ? 1.0 / std::sqrt(static_cast<double>(headSize)) : 1.0;
  if (config.scaleByLayer)
    scale /= static_cast<double>(layer + 1);
  GraphValue out = model::attention(writer, q, k, v, scale, config.attentionDropout, key, stream);
  GraphValue joined = writer.reshape("joined", out, hidden);
  return writer.linear("projected", "bsd,de->bse", joined, block.out.weight, &block.out.bias, hidden);
}

GraphValue Gpt2Builder::runBlock(GraphValue x, const Block &block, int64_t layer) {
  std::string name = "h." + std::to_string(layer);
  writer.enter(name + ".ln_1", "block " + std::to_string(layer));
  GraphValue normed = norm(x, block.first);
  writer.enter(name + ".attn");
  GraphValue attended = drop(attend(normed, block, layer), config.residualDropout);
  x = writer.add("x", x, attended);
  writer.enter(name + ".ln_2");
  normed = norm(x, block.second);
  writer.enter(name + ".mlp");
  GraphValue up = writer.linear("up", "bsd,de->bse", normed, block.up.weight, &block.up.bias, {shape.batch, shape.sequence, config.inner});
  GraphValue active = writer.same("active", "tg." + config.activation + " " + up.name, up);
  GraphValue down = writer.linear("down", "bsd,de->bse", active, block.down.weight, &block.down.bias, hidden);
  return writer.add("x", x, drop(down, config.residualDropout));
}

GraphValue Gpt2Builder::embed(const GraphValue &tokens, const GraphValue &wte, const GraphValue &wpe) {
  writer.enter("embedding", "token and position embedding");
  GraphValue token = writer.op("token", "tg.gather " + wte.name + ", " + tokens.name, {wte, tokens}, hidden);
  GraphValue rows = shape.sequence == config.positions ? wpe : writer.slice("positions", wpe, 0, 0, shape.sequence);
  GraphValue position = writer.broadcast("position", rows, {1, 2}, hidden);
  return drop(writer.add("x", token, position), config.embedDropout);
}

ModelGraph Gpt2Builder::build() {
  GraphValue wte = writer.param("transformer.wte.weight", {config.vocab, config.width}, model::normalInit(config.initStd), "embedding");
  GraphValue wpe = writer.param("transformer.wpe.weight", {config.positions, config.width}, model::normalInit(config.initStd), "embedding");
  std::vector<Block> blocks;
  for (int64_t layer = 0; layer < config.layers; ++layer)
    blocks.push_back(declareBlock("transformer.h." + std::to_string(layer), "h." + std::to_string(layer)));
  Norm last = declareNorm("transformer.ln_f", "head");
  GraphValue head = wte;
  if (!config.tied)
    head = writer.param("lm_head.weight", {config.vocab, config.width}, model::normalInit(config.initStd), "head");
  GraphValue tokens = writer.input("tokens", "tokens", {shape.batch, shape.sequence}, "i32");
  GraphValue targets = writer.input("targets", "targets", {shape.batch, shape.sequence}, "i32");
  if (hasDropout())
    key = writer.input("key", "key", {4}, "i32");

  GraphValue x = embed(tokens, wte, wpe);
  for (int64_t layer = 0; layer < config.layers; ++layer)
    x = runBlock(x, blocks[layer], layer);
  writer.enter("ln_f", "head and loss");
  GraphValue normed = norm(x, last);
  writer.enter("lm_head");
  GraphValue logits = writer.contract("logits", "bsd,vd->bsv", normed, head, {shape.batch, shape.sequence, config.vocab});
  writer.enter("loss");
  GraphValue loss{"", {}}, lse{"", {shape.batch, shape.sequence}};
  loss = writer.ops({"loss", "lse"}, "tg.cross_entropy mean " + logits.name + ", " + targets.name + " ignore -100", {logits, targets}, {loss, lse})[0];

  std::string header = "GPT-2: " + std::to_string(config.layers) + " layers, width " + std::to_string(config.width) + ", " +
                       std::to_string(config.heads) + " heads, vocabulary " + std::to_string(config.vocab) +
                       (config.tied ? ", tied head" : "") + "\nbatch " + std::to_string(shape.batch) + " x " +
                       std::to_string(shape.sequence) + " tokens";
  return {writer.finish(header, {{loss, "loss"}, {logits, "logits"}}), writer.params()};
}

ModelGraph braid::buildGpt2(const Gpt2Config &config, BatchShape shape) { return Gpt2Builder(config, shape).build(); }
