//===- Experts.h - a mixture of experts in a decoder ------------*- C++ -*-===//
//
// A router sends each token to some of a layer's experts, which are gated MLPs.  Experts have
// room for a number of tokens of each row of the batch, or of each document where rows hold several; what does
// not fit is dropped, counted and reported.  Positions without a token neither take room nor count.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MODEL_EXPERTS_H
#define BRAID_LIB_MODEL_EXPERTS_H

#include "lib/Model/Model.h"

namespace braid::model {

/// The weights of a layer: of the router, and of all experts together.
struct ExpertWeights {
  GraphValue router, gate, up, down;
};

/// Names have a star in the place of an expert's number: files have a tensor for each.
ExpertWeights declareExperts(GraphWriter &writer, const DecoderConfig &config, const std::string &path,
                             llvm::StringRef unit);

class ExpertsBuilder {
public:
  ExpertsBuilder(GraphWriter &writer, const DecoderConfig &config, BatchShape shape)
      : writer(writer), config(config), experts(config.experts), shape(shape) {}

  /// The tokens of a row, or of a document of packed ones, that an expert has room for.
  static int64_t capacityOf(const ExpertsConfig &experts, BatchShape shape);
  /// Declares the input that says which positions hold tokens, if something is shared out among or averaged over
  /// them.
  void declareInputs();

  /// What a layer's experts make of x.
  GraphValue run(const GraphValue &x, const ExpertWeights &weights);
  /// The loss with those of all routers, as far as they count.
  GraphValue addLosses(GraphValue loss);
  /// How many choices of all layers found no room; none if there is room for all.
  std::optional<GraphValue> dropped() const { return lost; }

private:
  /// Whether an expert may have more tokens than room.
  bool hasBound() const;
  GraphValue weightsOf(const GraphValue &x, const ExpertWeights &weights);
  void count(const GraphValue &slots);
  GraphValue scaled(llvm::StringRef hint, const GraphValue &value, double factor);

  GraphWriter &writer;
  const DecoderConfig &config;
  const ExpertsConfig &experts;
  BatchShape shape;
  std::vector<GraphValue> logits, probabilities, choices; // of layers
  std::optional<GraphValue> lost;
  /// The document of each token; -1 where a row has no token.
  std::optional<GraphValue> present;
};

} // namespace braid::model

#endif // BRAID_LIB_MODEL_EXPERTS_H
