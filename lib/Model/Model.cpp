//===- Model.cpp - dispatch by family, and shared pieces ------------------===//

#include "lib/Model/Model.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <charconv>

using namespace llvm;
using namespace braid;

namespace {
/// Returns the number of positions that the model can distinguish; 0 for a model without a sequence.
struct PositionsOf {
  int64_t operator()(const DecoderConfig &config) const { return config.positions; }
  int64_t operator()(const MlpConfig &) const { return 0; }
};

struct HasExperts {
  bool operator()(const DecoderConfig &config) const { return config.experts.count > 0; }
  bool operator()(const MlpConfig &) const { return false; }
};

struct Build {
  BatchShape shape;
  ModelGraph operator()(const DecoderConfig &config) const { return buildDecoder(config, shape); }
  ModelGraph operator()(const MlpConfig &config) const { return buildMlp(config, shape); }
};
} // namespace

int64_t braid::positionsOf(const ModelConfig &config) { return std::visit(PositionsOf{}, config); }

Expected<ModelGraph> braid::buildModel(const ModelConfig &config, BatchShape shape) {
  int64_t positions = positionsOf(config);
  if (!positions && shape.sequence)
    return createStringError("--seq does not apply to a model without a sequence; leave it out");
  if (!positions && shape.isPacked)
    return createStringError("--pack does not apply to a model without a sequence; leave it out");
  if (positions && (shape.sequence < 1 || shape.sequence > positions))
    return createStringError("--seq must be from 1 to the model's %lld positions, found %lld", (long long)positions,
                             (long long)shape.sequence);
  if ((shape.expertBound || shape.capacityFactor) && !std::visit(HasExperts{}, config))
    return createStringError("--%s does not apply to a model without experts; leave it out",
                             shape.expertBound ? "expert-bound" : "capacity-factor");
  if (shape.expertBound && *shape.expertBound > shape.sequence)
    return createStringError("--expert-bound=%lld is above the %lld tokens of a sequence, each of which an expert gets "
                             "at most once; leave it out to drop none",
                             (long long)*shape.expertBound, (long long)shape.sequence);
  return std::visit(Build{shape}, config);
}

std::string model::number(double value) {
  char buffer[32];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  std::string text(buffer, end);
  // Float literals of MLIR need a point.
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
