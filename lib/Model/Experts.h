//===- Experts.h - a mixture of experts in a decoder ------------*- C++ -*-===//
//
// A router sends each token to some of a layer's experts, which are gated MLPs.  Each expert has room for a
// number of tokens of each batch row, or of each document if rows are packed. Tokens beyond it are dropped,
// counted and reported.  Positions without a token take no room and are not counted.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MODEL_EXPERTS_H
#define BRAID_LIB_MODEL_EXPERTS_H

#include "lib/Model/Model.h"

namespace braid::model {

/// Weights of a layer: of the router, and of all experts together.
struct ExpertWeights {
  GraphValue router, gate, up, down;
};

/// Declares the weights. Their names have a star instead of an expert's number, because files have one tensor
/// per expert.
ExpertWeights declareExperts(GraphWriter &writer, const DecoderConfig &config, const std::string &path,
                             llvm::StringRef unit);

class ExpertsBuilder {
public:
  ExpertsBuilder(GraphWriter &writer, const DecoderConfig &config, BatchShape shape)
      : writer(writer), config(config), experts(config.experts), shape(shape) {}

  /// Returns the number of tokens of a row, or of a packed document, for which an expert has room.
  static int64_t capacityOf(const ExpertsConfig &experts, BatchShape shape);
  /// Declares the input that marks the positions with tokens, if room is limited or a loss averages over tokens.
  void declareInputs();

  /// Returns the output of a layer's experts on x.
  GraphValue run(const GraphValue &x, const ExpertWeights &weights);
  /// Returns the loss plus the weighted losses of all routers.
  GraphValue addLosses(GraphValue loss);
  /// Returns the number of dropped choices in all layers; no value if there is room for all.
  std::optional<GraphValue> dropped() const { return droppedChoices; }

private:
  /// Returns whether an expert may get more tokens than it has room for.
  bool hasBound() const;
  GraphValue weightsOf(const GraphValue &x, const ExpertWeights &weights);
  void count(const GraphValue &slots);
  GraphValue scaled(llvm::StringRef hint, const GraphValue &value, double factor);

  GraphWriter &writer;
  const DecoderConfig &config;
  const ExpertsConfig &experts;
  BatchShape shape;
  std::vector<GraphValue> logits, probabilities, choices; // per layer
  std::optional<GraphValue> droppedChoices;
  /// Document of each token; -1 for positions without a token.
  std::optional<GraphValue> present;
};

} // namespace braid::model

#endif // BRAID_LIB_MODEL_EXPERTS_H
