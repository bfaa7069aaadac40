//===- Model.h - from a model's numbers to its training graph ---*- C++ -*-===//
#ifndef BRAID_LIB_MODEL_MODEL_H
#define BRAID_LIB_MODEL_MODEL_H

#include "lib/Model/GraphWriter.h"
#include "lib/Model/ModelConfig.h"
#include <optional>

namespace braid {

/// The global batch: sequences and tokens a sequence (a multilayer perceptron
/// has no sequence: 0).
struct BatchShape {
  int64_t batch, sequence;
  /// Whether a sequence holds several documents, each with attention and positions of its own.
  bool isPacked = false;
  /// The tokens of a sequence that an expert has room for, or how many times those that it gets where
  /// all get as many; without either, there is room for all.
  std::optional<int64_t> expertBound = std::nullopt;
  std::optional<double> capacityFactor = std::nullopt;
};

/// A graph in text and its parameters in order.
struct ModelGraph {
  std::string text;
  std::vector<GraphParam> params;
};

ModelGraph buildDecoder(const DecoderConfig &config, BatchShape shape);
ModelGraph buildMlp(const MlpConfig &config, BatchShape shape);

/// The positions of a model; 0 for one without a sequence.
int64_t positionsOf(const ModelConfig &config);

/// Checks the batch shape against the model and builds the graph.
llvm::Expected<ModelGraph> buildModel(const ModelConfig &config, BatchShape shape);

/// Pieces that several models share.
namespace model {
/// `normal` with this standard deviation; `layers` > 0 scales it for a
/// projection into the residual stream.
std::string normalInit(double std, int64_t layers = 0);
/// An f64 literal that MLIR reads back exactly.
std::string number(double value);
GraphValue dropout(GraphWriter &writer, const GraphValue &x, const GraphValue &key, double rate, int64_t &stream);
/// cap tanh(x / cap).
GraphValue softcap(GraphWriter &writer, const GraphValue &x, double cap);
/// How causal attention makes scores; a window or soft cap of 0 is none.
struct Scores {
  double scale = 1, softcap = 0;
  int64_t window = 0;
  /// The document of each token, outside of which nothing is seen.
  std::optional<GraphValue> documents;
};
/// `dropoutRate` is that of dropout on its weights, which draws from `stream` of `key`.
GraphValue attention(GraphWriter &writer, const GraphValue &q, const GraphValue &k, const GraphValue &v,
                     const Scores &how, double dropoutRate, const GraphValue &key, int64_t &stream);
} // namespace model

} // namespace braid

#endif // BRAID_LIB_MODEL_MODEL_H
