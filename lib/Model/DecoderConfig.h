//===- DecoderConfig.h - what a decoder is, before it is a graph -*- C++ -*-===//
//
// Every family of language models is one of these: families differ in its fields, and one
// builder reads them (Decoder.cpp).  What a field stands for in a family's `config.json`,
// Families.cpp says.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MODEL_DECODERCONFIG_H
#define BRAID_LIB_MODEL_DECODERCONFIG_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <string>

namespace braid {

/// What checkpoints call the tensors: `ROOT.table`, `ROOT.BLOCKS.0.attention.query`.  One that is
/// empty is a tensor that the family does not have.
struct DecoderNames {
  std::string root, blocks, table, positions, lastNorm, head = "lm_head";
  std::string attention, mlp;
  std::string firstNorm, secondNorm, attentionPostNorm, mlpPostNorm; // of a block
  std::string query, key, value, fused, out, queryNorm, keyNorm;     // of attention
  std::string gate, up, down;                                        // of the MLP, and of an expert
  std::string router, experts, sharedExpert, sharedGate;             // beside or in the MLP
};

/// The experts that take the MLP's place in some layers; `count` 0: there are none.
struct ExpertsConfig {
  int64_t count = 0, chosen = 0, inner = 0;
  /// Of an expert that sees every token beside those that are chosen; 0: there is none.
  int64_t sharedInner = 0;
  /// Whether the weights of a token's experts are made to add up to 1.
  bool normalized = true;
  /// What the losses of routers are times in the loss; 0: they are not in it.
  double balanceWeight = 0, zWeight = 0;
  /// The layers that have them.
  llvm::SmallVector<bool> layers;
};

/// Rotary positions.
struct RopeConfig {
  double theta = 1e4;
  /// How many numbers of a head turn; 0: there are no rotary positions.
  int64_t dims = 0;
  /// The words of a #tg.rope_scaling, if there is one.
  std::string scaling;

  bool operator==(const RopeConfig &) const = default;
};

struct DecoderConfig {
  std::string title;
  DecoderNames names;

  // Sizes.
  int64_t vocab = 0, positions = 0, width = 0, layers = 0, heads = 0, kvHeads = 0, headSize = 0, inner = 0;

  // Norms: `normOffset` is added to their weights.  Without `secondNorm` in the names attention and
  // the MLP share the first; post norms follow them, and norms of queries and keys are of each head.
  enum class Norm { Layer, Rms };
  Norm norm = Norm::Rms;
  double eps = 1e-6, normOffset = 0;

  // Attention.  How queries, keys and values lie in one weight: one after the other, or those of
  // each head together.
  enum class Projection { Separate, Fused, FusedByHead };
  Projection projection = Projection::Separate;
  bool queryBias = false, outBias = false;
  double scale = 0; // 0: 1 / sqrt(headSize)
  bool scaleByLayer = false;
  double attentionSoftcap = 0, logitSoftcap = 0; // 0: none
  /// The keys that a query counts, of each layer; 0: all before it.
  llvm::SmallVector<int64_t> windows;
  /// Of layers without and with a window.
  RopeConfig rope, windowRope;

  // The MLP, and how a block adds up: after the MLP's input has seen attention's result, or in parallel.
  std::string activation;
  bool gated = false, mlpBias = false, parallelResidual = false;

  ExpertsConfig experts;

  // Table and head.  A lookup of the token `padding` gives its row no gradient.
  bool tied = false, headBias = false;
  std::optional<int64_t> padding;
  double embeddingScale = 1;

  // Weights are stored from x to (GPT-2's Conv1D), or to x from.  Projections into the residual stream
  // may start smaller by 1 / sqrt(2 layers).
  bool fromTo = false, scaledInit = false;
  /// Arguments have a block's norms behind its weights, as most checkpoints do.
  bool normsLast = false;
  double initStd = 0.02;

  double embedDropout = 0, residualDropout = 0, attentionDropout = 0;

  bool hasLearnedPositions() const { return !names.positions.empty(); }
  bool hasDropout() const { return embedDropout > 0 || residualDropout > 0 || attentionDropout > 0; }
  bool hasExperts(int64_t layer) const { return experts.count && experts.layers[layer]; }
  int64_t windowOf(int64_t layer) const { return windows.empty() ? 0 : windows[layer]; }
};

} // namespace braid

#endif // BRAID_LIB_MODEL_DECODERCONFIG_H
