//===- Decoder.cpp - what every family of language models has -------------===//

#include "lib/Model/Decoder.h"

using namespace llvm;
using namespace braid;

GraphValue DecoderBuilder::declareTable(StringRef name, int64_t rows, StringRef unit) {
  return writer.param(name, {rows, width}, model::normalInit(initStd), unit);
}

DecoderBuilder::Linear DecoderBuilder::declareLinear(const std::string &name, int64_t from, int64_t to, bool bias,
                                                     StringRef unit, int64_t residualLayers) {
  SmallVector<int64_t, 2> stored = {from, to};
  if (weights == Weights::ToFrom)
    stored = {to, from};
  Linear params{writer.param(name + ".weight", stored, model::normalInit(initStd, residualLayers), unit), std::nullopt,
                to};
  if (bias)
    params.bias = writer.param(name + ".bias", {to}, "init<zeros>", unit);
  return params;
}

GraphValue DecoderBuilder::declareHead(const GraphValue &table, bool isTied) {
  return isTied ? table : declareTable("lm_head.weight", vocab, headUnit(isTied));
}

void DecoderBuilder::declareInputs(bool hasDropout) {
  tokens = writer.input("tokens", "tokens", {shape.batch, shape.sequence}, "i32");
  targets = writer.input("targets", "targets", {shape.batch, shape.sequence}, "i32");
  if (hasDropout)
    key = writer.input("key", "key", {4}, "i32");
}

GraphValue DecoderBuilder::linear(StringRef hint, const GraphValue &x, const Linear &params) {
  return writer.linear(hint, weights == Weights::FromTo ? "bsd,de->bse" : "bsd,ed->bse", x, params.weight,
                       params.bias ? &*params.bias : nullptr, {shape.batch, shape.sequence, params.to});
}

GraphValue DecoderBuilder::lookUp(StringRef hint, const GraphValue &table) {
  return writer.op(hint, "tg.gather " + table.name + ", " + tokens.name, {table, tokens}, hidden);
}

ModelGraph DecoderBuilder::finish(const GraphValue &normed, const GraphValue &head, const std::string &title) {
  writer.enter("lm_head");
  GraphValue logits = writer.contract("logits", "bsd,vd->bsv", normed, head, {shape.batch, shape.sequence, vocab});
  writer.enter("loss");
  GraphValue scalar{"", {}}, rows{"", {shape.batch, shape.sequence}};
  GraphValue loss =
      writer.ops({"loss", "lse"}, "tg.cross_entropy mean " + logits.name + ", " + targets.name + " ignore -100",
                 {logits, targets}, {scalar, rows})[0];
  std::string batch = std::to_string(shape.batch) + " x " + std::to_string(shape.sequence) + " tokens";
  return {writer.finish(title + "\nbatch " + batch,
                        {{loss, "tg.role = #tg.role<loss>"}, {logits, "tg.role = #tg.role<logits>"}}),
          writer.params()};
}
