//===- Model.h - training graphs of models ----------------------*- C++ -*-===//
#ifndef BRAID_LIB_MODEL_MODEL_H
#define BRAID_LIB_MODEL_MODEL_H

#include "lib/Model/GraphWriter.h"
#include "lib/Model/ModelConfig.h"
#include <optional>

namespace braid {

/// Shape of the global batch: number of sequences, and tokens per sequence (0 for a
/// multilayer perceptron, which has no sequence).
struct BatchShape {
  int64_t batch, sequence;
  /// Whether a sequence holds several documents, each with attention and positions of its own.
  bool isPacked = false;
  /// Room of an expert: a number of tokens per sequence (`expertBound`), or a multiple of the number
  /// under equal load (`capacityFactor`). Without either, there is room for all tokens.
  std::optional<int64_t> expertBound = std::nullopt;
  std::optional<double> capacityFactor = std::nullopt;
};

/// A graph as text, and its parameters in order.
struct ModelGraph {
  std::string text;
  std::vector<GraphParam> params;
};

ModelGraph buildDecoder(const DecoderConfig &config, BatchShape shape);
ModelGraph buildMlp(const MlpConfig &config, BatchShape shape);

/// Returns the number of positions of a model; 0 for one without a sequence.
int64_t positionsOf(const ModelConfig &config);

/// Checks the batch shape against the model and builds the graph.
llvm::Expected<ModelGraph> buildModel(const ModelConfig &config, BatchShape shape);

/// Pieces that several models share.
namespace model {
/// Returns `normal` with this standard deviation; `layers` > 0 scales it for a
/// projection into the residual stream.
std::string normalInit(double std, int64_t layers = 0);
/// Returns an f64 literal that MLIR reads back exactly.
std::string number(double value);
GraphValue dropout(GraphWriter &writer, const GraphValue &x, const GraphValue &key, double rate, int64_t &stream);
/// Returns cap tanh(x / cap).
GraphValue softcap(GraphWriter &writer, const GraphValue &x, double cap);
/// Score options of causal attention; a window or soft cap of 0 means none.
struct Scores {
  double scale = 1, softcap = 0;
  int64_t window = 0;
  /// Document of each token; attention does not cross documents.
  std::optional<GraphValue> documents;
};
/// Adds attention. Dropout on its weights, with rate `dropoutRate`, draws random numbers from `stream` of `key`.
GraphValue attention(GraphWriter &writer, const GraphValue &q, const GraphValue &k, const GraphValue &v,
                     const Scores &scores, double dropoutRate, const GraphValue &key, int64_t &stream);
} // namespace model

} // namespace braid

#endif // BRAID_LIB_MODEL_MODEL_H
