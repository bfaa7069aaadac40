//===- Decoder.cpp - a decoder as a graph ---------------------------------===//
//
// A decoder reads tokens. It has a table of embeddings, blocks of attention and an MLP that
// add to a residual stream, a last norm, a head that may be tied to the table, and a mean
// loss. Names and layouts of weights are those of Hugging Face checkpoints.
//
//===----------------------------------------------------------------------===//

#include "lib/Model/Experts.h"
#include "lib/Model/Model.h"
#include <cmath>
#include <optional>

using namespace llvm;
using namespace braid;

namespace {
class DecoderBuilder {
public:
  DecoderBuilder(const DecoderConfig &config, BatchShape shape)
      : config(config), names(config.names), shape(shape), hidden({shape.batch, shape.sequence, config.width}),
        experts(writer, config, shape) {}

  ModelGraph build();

private:
  struct Linear {
    GraphValue weight;
    std::optional<GraphValue> bias;
    int64_t to = 0;
  };
  struct Norm {
    GraphValue weight;
    std::optional<GraphValue> bias;
  };
  using OptionalNorm = std::optional<Norm>;
  struct Block {
    std::string place;
    OptionalNorm first, second, attentionPost, mlpPost, queryNorm, keyNorm;
    Linear fused, query, key, value, out, gate, up, down, sharedGate;
    std::optional<model::ExpertWeights> experts;
  };
  struct Heads {
    GraphValue query, key, value;
  };

  // Parameters.
  GraphValue declareMatrix(const std::string &name, int64_t rows, int64_t columns, StringRef unit, bool isResidual);
  Linear declareLinear(const std::string &path, StringRef name, int64_t from, int64_t to, bool bias, StringRef unit,
                       bool isResidual = false);
  OptionalNorm declareNorm(const std::string &path, StringRef name, int64_t size, StringRef unit);
  void declareAttention(Block &block, const std::string &path, StringRef unit);
  void declareMlp(Block &block, const std::string &path, int64_t inner, StringRef unit);
  void declareExperts(Block &block, const std::string &path, StringRef unit);
  Block declareBlock(int64_t layer);
  void declareInputs();

  // The graph.
  GraphValue linear(StringRef hint, const GraphValue &x, const Linear &params);
  GraphValue norm(const GraphValue &x, const Norm &params);
  GraphValue drop(const GraphValue &x, double rate) { return model::dropout(writer, x, key, rate, stream); }
  GraphValue times(StringRef hint, const GraphValue &x, double factor);
  GraphValue fixPadding(const GraphValue &x);
  GraphValue embedPositions(const GraphValue &positions);
  GraphValue embed(const GraphValue &table, const GraphValue &positions);
  GraphValue positioned(StringRef hint, GraphValue x, const OptionalNorm &params, const RopeConfig &rope);
  Heads splitFused(const GraphValue &x, const Block &block);
  Heads project(const GraphValue &x, const Block &block, int64_t layer);
  GraphValue attend(const GraphValue &x, const Block &block, int64_t layer);
  GraphValue runMlp(const GraphValue &x, const Block &block);
  GraphValue runExperts(const GraphValue &x, const Block &block);
  GraphValue normAt(const Block &block, StringRef name, const GraphValue &x, const OptionalNorm &params,
                    StringRef comment = "");
  GraphValue runBlock(const GraphValue &x, const Block &block, int64_t layer);
  ModelGraph finish(const GraphValue &normed, const Linear &head);
  std::string title() const;

  const DecoderConfig &config;
  const DecoderNames &names;
  BatchShape shape;
  SmallVector<int64_t, 4> hidden;
  GraphWriter writer;
  model::ExpertsBuilder experts;
  GraphValue tokens, targets, key;
  GraphValue documents, places; // documents of tokens in packed sequences; places are positions in documents
  int64_t stream = 0;           // random stream of the next dropout
};
} // namespace

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

GraphValue DecoderBuilder::declareMatrix(const std::string &name, int64_t rows, int64_t columns, StringRef unit,
                                         bool isResidual) {
  int64_t layers = isResidual && config.scaledInit ? config.layers : 0;
  return writer.param(name + ".weight", {rows, columns}, model::normalInit(config.initStd, layers), unit);
}

DecoderBuilder::Linear DecoderBuilder::declareLinear(const std::string &path, StringRef name, int64_t from, int64_t to,
                                                     bool bias, StringRef unit, bool isResidual) {
  std::string full = path + "." + name.str();
  Linear params{config.storesInputByOutput ? declareMatrix(full, from, to, unit, isResidual)
                                           : declareMatrix(full, to, from, unit, isResidual),
                std::nullopt, to};
  if (bias)
    params.bias = writer.param(full + ".bias", {to}, "init<zeros>", unit);
  return params;
}

DecoderBuilder::OptionalNorm DecoderBuilder::declareNorm(const std::string &path, StringRef name, int64_t size,
                                                         StringRef unit) {
  if (name.empty())
    return std::nullopt;
  std::string full = path + "." + name.str();
  Norm params{writer.param(full + ".weight", {size}, config.normOffset ? "init<zeros>" : "init<ones>", unit),
              std::nullopt};
  if (config.norm == DecoderConfig::Norm::Layer)
    params.bias = writer.param(full + ".bias", {size}, "init<zeros>", unit);
  return params;
}

void DecoderBuilder::declareAttention(Block &block, const std::string &path, StringRef unit) {
  int64_t width = config.width, queries = config.heads * config.headSize, keys = config.kvHeads * config.headSize;
  if (config.projection == DecoderConfig::Projection::Separate) {
    block.query = declareLinear(path, names.query, width, queries, config.queryBias, unit);
    block.key = declareLinear(path, names.key, width, keys, config.queryBias, unit);
    block.value = declareLinear(path, names.value, width, keys, config.queryBias, unit);
  } else {
    block.fused = declareLinear(path, names.fused, width, queries + 2 * keys, config.queryBias, unit);
  }
  block.out = declareLinear(path, names.out, queries, width, config.outBias, unit, /*isResidual=*/true);
  block.queryNorm = declareNorm(path, names.queryNorm, config.headSize, unit);
  block.keyNorm = declareNorm(path, names.keyNorm, config.headSize, unit);
}

void DecoderBuilder::declareMlp(Block &block, const std::string &path, int64_t inner, StringRef unit) {
  if (config.gated)
    block.gate = declareLinear(path, names.gate, config.width, inner, config.mlpBias, unit);
  block.up = declareLinear(path, names.up, config.width, inner, config.mlpBias, unit);
  block.down = declareLinear(path, names.down, inner, config.width, config.mlpBias, unit, /*isResidual=*/true);
}

void DecoderBuilder::declareExperts(Block &block, const std::string &path, StringRef unit) {
  block.experts = model::declareExperts(writer, config, path, unit);
  if (!config.experts.sharedInner)
    return;
  declareMlp(block, path + "." + names.sharedExpert, config.experts.sharedInner, unit);
  block.sharedGate = declareLinear(path, names.sharedGate, config.width, 1, false, unit);
}

DecoderBuilder::Block DecoderBuilder::declareBlock(int64_t layer) {
  std::string unit = names.blocks + "." + std::to_string(layer), path = names.root + "." + unit;
  Block block;
  block.place = unit;
  auto declareFirst = [&] { block.first = declareNorm(path, names.firstNorm, config.width, unit); };
  auto declareSecond = [&] { block.second = declareNorm(path, names.secondNorm, config.width, unit); };
  if (!config.normsLast)
    declareFirst();
  declareAttention(block, path + "." + names.attention, unit);
  if (!config.normsLast)
    declareSecond();
  std::string mlp = path + "." + names.mlp;
  if (config.hasExperts(layer))
    declareExperts(block, mlp, unit);
  else
    declareMlp(block, mlp, config.inner, unit);
  if (config.normsLast) {
    declareFirst();
    declareSecond();
  }
  block.attentionPost = declareNorm(path, names.attentionPostNorm, config.width, unit);
  block.mlpPost = declareNorm(path, names.mlpPostNorm, config.width, unit);
  return block;
}

void DecoderBuilder::declareInputs() {
  tokens = writer.input("tokens", "tokens", {shape.batch, shape.sequence}, "i32");
  targets = writer.input("targets", "targets", {shape.batch, shape.sequence}, "i32");
  if (shape.isPacked)
    documents = writer.input("documents", "features", {shape.batch, shape.sequence}, "i32");
  // Rotary embeddings depend only on the distance of tokens, so they need no positions in the document.
  if (shape.isPacked && config.hasLearnedPositions())
    places = writer.input("positions", "features", {shape.batch, shape.sequence}, "i32");
  experts.declareInputs();
  if (config.hasDropout())
    key = writer.input("key", "key", {4}, "i32");
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

GraphValue DecoderBuilder::linear(StringRef hint, const GraphValue &x, const Linear &params) {
  return writer.linear(hint, config.storesInputByOutput ? "bsd,de->bse" : "bsd,ed->bse", x, params.weight,
                       params.bias ? &*params.bias : nullptr, {shape.batch, shape.sequence, params.to});
}

GraphValue DecoderBuilder::norm(const GraphValue &x, const Norm &params) {
  GraphValue rows{"", SmallVector<int64_t, 4>(ArrayRef<int64_t>(x.shape).drop_back())};
  std::string eps = " eps " + model::number(config.eps), of = x.name + ", " + params.weight.name;
  if (params.bias)
    return writer.ops({"normed", "mean", "rstd"}, "tg.layer_norm " + of + ", " + params.bias->name + eps,
                      {x, params.weight, *params.bias}, {x, rows, rows})[0];
  std::string offset = config.normOffset ? " offset " + model::number(config.normOffset) : "";
  return writer.ops({"normed", "rrms"}, "tg.rms_norm " + of + eps + offset, {x, params.weight}, {x, rows})[0];
}

GraphValue DecoderBuilder::times(StringRef hint, const GraphValue &x, double factor) {
  return writer.mul(hint, x, writer.constant("factor", model::number(factor), x.shape));
}

/// Blocks the gradient of the padding row, like PyTorch's padding_idx.
GraphValue DecoderBuilder::fixPadding(const GraphValue &x) {
  GraphValue each = writer.broadcast("token", tokens, {0, 1}, hidden);
  GraphValue padding = writer.constant("padding", std::to_string(*config.padding), hidden, "i32");
  GraphValue isPadding = writer.addOpLike("is_padding", "arith.cmpi eq, " + each.name + ", " + padding.name, each);
  isPadding.element = "i1";
  return writer.select("x", isPadding, writer.addOpLike("fixed", "tg.stop_gradient " + x.name, x), x);
}

/// Returns the embeddings of positions in the sequence, or in the documents of a packed one.
GraphValue DecoderBuilder::embedPositions(const GraphValue &positions) {
  if (shape.isPacked)
    return writer.op("position", "tg.gather " + positions.name + ", " + places.name, {positions, places}, hidden);
  GraphValue rows = positions;
  if (shape.sequence < config.positions)
    rows = writer.slice("positions", positions, 0, 0, shape.sequence);
  return writer.broadcast("position", rows, {1, 2}, hidden);
}

GraphValue DecoderBuilder::embed(const GraphValue &table, const GraphValue &positions) {
  bool isLearned = config.hasLearnedPositions();
  writer.enter(isLearned ? "embedding" : names.table, isLearned ? "token and position embedding" : "token embedding");
  GraphValue x =
      writer.op(isLearned ? "token" : "x", "tg.gather " + table.name + ", " + tokens.name, {table, tokens}, hidden);
  if (config.padding)
    x = fixPadding(x);
  if (config.embeddingScale != 1)
    x = times("scaled", x, config.embeddingScale);
  if (isLearned)
    x = writer.add("residual", x, embedPositions(positions));
  return drop(x, config.embedDropout);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Normalizes heads of queries or keys, and rotates them to their positions.
GraphValue DecoderBuilder::positioned(StringRef hint, GraphValue x, const OptionalNorm &params,
                                      const RopeConfig &rope) {
  if (params)
    x = norm(x, *params);
  if (!rope.dims)
    return x;
  std::string words = "tg.rope " + x.name + " theta " + model::number(rope.theta);
  if (rope.dims < config.headSize)
    words += " dims " + std::to_string(rope.dims);
  return writer.addOpLike(hint, words + (rope.scaling.empty() ? "" : " ") + rope.scaling, x);
}

/// Splits the result of one fused projection.
DecoderBuilder::Heads DecoderBuilder::splitFused(const GraphValue &x, const Block &block) {
  int64_t heads = config.heads, size = config.headSize;
  SmallVector<int64_t, 4> part = {shape.batch, shape.sequence, heads, size};
  GraphValue qkv = linear("qkv", x, block.fused);
  if (config.projection == DecoderConfig::Projection::FusedByHead) {
    qkv = writer.reshape("qkv", qkv, {shape.batch, shape.sequence, heads, 3 * size});
    auto slice = [&](StringRef hint, int64_t index) { return writer.slice(hint, qkv, 3, index * size, size); };
    GraphValue query = slice("q", 0), key = slice("k", 1), value = slice("v", 2);
    return {query, key, value};
  }
  auto slice = [&](StringRef hint, int64_t index) {
    return writer.reshape(hint, writer.slice(hint, qkv, 2, index * heads * size, heads * size), part);
  };
  GraphValue query = slice("q", 0), key = slice("k", 1), value = slice("v", 2);
  return {query, key, value};
}

DecoderBuilder::Heads DecoderBuilder::project(const GraphValue &x, const Block &block, int64_t layer) {
  const RopeConfig &rope = config.windowOf(layer) && config.windowRope.dims ? config.windowRope : config.rope;
  if (config.projection != DecoderConfig::Projection::Separate) {
    Heads heads = splitFused(x, block);
    GraphValue query = positioned("q", heads.query, block.queryNorm, rope);
    return {query, positioned("k", heads.key, block.keyNorm, rope), heads.value};
  }
  auto split = [&](StringRef hint, const Linear &params, int64_t heads) {
    return writer.reshape(hint, linear(hint, x, params), {shape.batch, shape.sequence, heads, config.headSize});
  };
  GraphValue query = positioned("q", split("q", block.query, config.heads), block.queryNorm, rope);
  GraphValue key = positioned("k", split("k", block.key, config.kvHeads), block.keyNorm, rope);
  return {query, key, split("v", block.value, config.kvHeads)};
}

GraphValue DecoderBuilder::attend(const GraphValue &x, const Block &block, int64_t layer) {
  writer.enter(block.place + "." + names.attention);
  Heads heads = project(x, block, layer);
  model::Scores scores;
  scores.scale = config.scale ? config.scale : 1.0 / std::sqrt(static_cast<double>(config.headSize));
  if (config.scaleByLayer)
    scores.scale /= static_cast<double>(layer + 1);
  // A window that no row exceeds has no effect.
  if (config.windowOf(layer) < shape.sequence)
    scores.window = config.windowOf(layer);
  scores.softcap = config.attentionSoftcap;
  if (shape.isPacked)
    scores.documents = documents;
  GraphValue out =
      model::attention(writer, heads.query, heads.key, heads.value, scores, config.attentionDropout, key, stream);
  GraphValue joined = writer.reshape("joined", out, {shape.batch, shape.sequence, config.heads * config.headSize});
  return linear("projected", joined, block.out);
}

GraphValue DecoderBuilder::runMlp(const GraphValue &x, const Block &block) {
  writer.enter(block.place + "." + names.mlp);
  auto activate = [&](const GraphValue &value) {
    return writer.addOpLike("active", "tg." + config.activation + " " + value.name, value);
  };
  if (!config.gated)
    return linear("down", activate(linear("up", x, block.up)), block.down);
  GraphValue gate = linear("gate", x, block.gate), up = linear("up", x, block.up);
  return linear("down", writer.mul("gated", activate(gate), up), block.down);
}

/// Runs the chosen experts. Adds the shared expert, if any, which sees all tokens and is scaled by its gate.
GraphValue DecoderBuilder::runExperts(const GraphValue &x, const Block &block) {
  writer.enter(block.place + "." + names.mlp);
  GraphValue mixed = experts.run(x, *block.experts);
  if (!config.experts.sharedInner)
    return mixed;
  GraphValue shared = runMlp(x, block), logit = linear("gate", x, block.sharedGate);
  GraphValue one = writer.constant("one", "1.0", logit.shape);
  GraphValue power =
      writer.addOpLike("power", "math.exp " + writer.addOpLike("minus", "arith.negf " + logit.name, logit).name, logit);
  GraphValue open =
      writer.addOpLike("open", "arith.divf " + one.name + ", " + writer.add("divisor", one, power).name, logit);
  return writer.add("sum", mixed, writer.mul("shared", shared, writer.broadcast("open", open, {0, 1, 2}, hidden)));
}

/// Applies a norm of a block if the block has it.
GraphValue DecoderBuilder::normAt(const Block &block, StringRef name, const GraphValue &x, const OptionalNorm &params,
                                  StringRef comment) {
  if (!params)
    return x;
  writer.enter(block.place + "." + name.str(), comment);
  return norm(x, *params);
}

GraphValue DecoderBuilder::runBlock(const GraphValue &x, const Block &block, int64_t layer) {
  GraphValue normed = normAt(block, names.firstNorm, x, block.first, "block " + std::to_string(layer));
  GraphValue attended = attend(normed, block, layer);
  attended = drop(normAt(block, names.attentionPostNorm, attended, block.attentionPost), config.residualDropout);
  GraphValue before = config.parallelResidual ? x : writer.add("residual", x, attended);
  if (block.second)
    normed = normAt(block, names.secondNorm, before, block.second);
  GraphValue made = block.experts ? runExperts(normed, block) : runMlp(normed, block);
  made = normAt(block, names.mlpPostNorm, made, block.mlpPost);
  made = drop(made, config.residualDropout);
  return writer.add("residual", before, config.parallelResidual ? writer.add("both", made, attended) : made);
}

//===----------------------------------------------------------------------===//
// The whole graph
//===----------------------------------------------------------------------===//

std::string DecoderBuilder::title() const {
  std::string heads = std::to_string(config.heads) + " heads";
  if (config.projection == DecoderConfig::Projection::Separate)
    heads += " (" + std::to_string(config.kvHeads) + " for keys and values)";
  if (config.experts.count)
    heads += ", " + std::to_string(config.experts.count) + " experts with room for " +
             std::to_string(model::ExpertsBuilder::capacityOf(config.experts, shape)) + " tokens of a " +
             (shape.isPacked ? "document" : "row");
  return config.title + ": " + std::to_string(config.layers) + " layers, width " + std::to_string(config.width) + ", " +
         heads + ", vocabulary " + std::to_string(config.vocab) + (config.tied ? ", tied head" : "") + "\nbatch " +
         std::to_string(shape.batch) + " x " + std::to_string(shape.sequence) + " tokens" +
         (shape.isPacked ? " of packed documents" : "");
}

/// Computes logits and loss from the output of the last norm.
ModelGraph DecoderBuilder::finish(const GraphValue &normed, const Linear &head) {
  writer.enter("lm_head");
  GraphValue logits = writer.linear("logits", "bsd,vd->bsv", normed, head.weight, head.bias ? &*head.bias : nullptr,
                                    {shape.batch, shape.sequence, config.vocab});
  if (config.logitSoftcap)
    logits = model::softcap(writer, logits, config.logitSoftcap);
  writer.enter("loss");
  GraphValue scalar{"", {}}, rows{"", {shape.batch, shape.sequence}};
  GraphValue loss =
      writer.ops({"loss", "lse"}, "tg.cross_entropy mean " + logits.name + ", " + targets.name + " ignore -100",
                 {logits, targets}, {scalar, rows})[0];
  SmallVector<std::pair<GraphValue, std::string>, 3> results = {{experts.addLosses(loss), "tg.role = #tg.role<loss>"},
                                                                {logits, "tg.role = #tg.role<logits>"}};
  if (std::optional<GraphValue> dropped = experts.dropped())
    results.push_back({*dropped, "tg.output = \"dropped\""});
  return {writer.finish(title(), results), writer.params()};
}

ModelGraph DecoderBuilder::build() {
  GraphValue table = declareMatrix(names.root + "." + names.table, config.vocab, config.width, "embedding", false);
  GraphValue positions;
  if (config.hasLearnedPositions())
    positions = declareMatrix(names.root + "." + names.positions, config.positions, config.width, "embedding", false);
  std::vector<Block> blocks;
  for (int64_t layer = 0; layer < config.layers; ++layer)
    blocks.push_back(declareBlock(layer));
  // The last norm belongs to the unit of the head, so no norm is a unit of its own.
  StringRef unit = config.tied ? "embedding" : "head";
  OptionalNorm last = declareNorm(names.root, names.lastNorm, config.width, unit);
  Linear head{config.tied ? table : declareMatrix(names.head, config.vocab, config.width, unit, false), std::nullopt,
              config.vocab};
  if (config.headBias)
    head.bias = writer.param(names.head + ".bias", {config.vocab}, "init<zeros>", unit);
  declareInputs();

  GraphValue x = embed(table, positions);
  for (int64_t layer = 0; layer < config.layers; ++layer)
    x = runBlock(x, blocks[layer], layer);
  writer.enter(names.lastNorm, "head and loss");
  return finish(norm(x, *last), head);
}

ModelGraph braid::buildDecoder(const DecoderConfig &config, BatchShape shape) {
  return DecoderBuilder(config, shape).build();
}
