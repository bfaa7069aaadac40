//===- DecoderConfig.h - description of a decoder model ---------*- C++ -*-===//
//
// Every family of language models has this description. Families differ in its fields, which one
// builder reads (Decoder.cpp). Families.cpp maps the `config.json` of each family to the fields.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MODEL_DECODERCONFIG_H
#define BRAID_LIB_MODEL_DECODERCONFIG_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <string>

namespace braid {

/// Names of tensors in checkpoints: `ROOT.table`, `ROOT.BLOCKS.0.attention.query`. An empty name
/// means that the family has no such tensor.
struct DecoderNames {
  std::string root, blocks, table, positions, lastNorm, head = "lm_head";
  std::string attention, mlp;
  std::string firstNorm, secondNorm, attentionPostNorm, mlpPostNorm; // in a block
  std::string query, key, value, fused, out, queryNorm, keyNorm;     // in attention
  std::string gate, up, down;                                        // in the MLP, and in an expert
  std::string router, experts, sharedExpert, sharedGate;             // beside or in the MLP
};

/// Experts that replace the MLP in some layers; `count` 0: there are none.
struct ExpertsConfig {
  int64_t count = 0, chosen = 0, inner = 0;
  /// Inner size of an expert that sees every token beside the chosen experts; 0: there is none.
  int64_t sharedInner = 0;
  /// Whether the weights of a token's experts are normalized to a sum of 1.
  bool normalized = true;
  /// Factors of the router losses in the total loss; 0 leaves them out.
  double balanceWeight = 0, zWeight = 0;
  /// Whether each layer has experts.
  llvm::SmallVector<bool> layers;
};

/// Rotary position embedding.
struct RopeConfig {
  double theta = 1e4;
  /// Number of rotated dims in a head; 0: there are no rotary positions.
  int64_t dims = 0;
  /// Text of a #tg.rope_scaling; empty if there is none.
  std::string scaling;

  bool operator==(const RopeConfig &) const = default;
};

struct DecoderConfig {
  std::string title;
  DecoderNames names;

  // Sizes.
  int64_t vocab = 0, positions = 0, width = 0, layers = 0, heads = 0, kvHeads = 0, headSize = 0, inner = 0;

  // Norms: `normOffset` is added to their weights.  Without `secondNorm` in the names, attention and the MLP
  // share the first norm. Post norms follow attention and the MLP. Norms of queries and keys are per head.
  enum class Norm { Layer, Rms };
  Norm norm = Norm::Rms;
  double eps = 1e-6, normOffset = 0;

  // Layout of queries, keys and values in attention's weights: separate, one after the other in
  // one weight, or head by head in one weight.
  enum class Projection { Separate, Fused, FusedByHead };
  Projection projection = Projection::Separate;
  bool queryBias = false, outBias = false;
  double scale = 0; // 0: 1 / sqrt(headSize)
  bool scaleByLayer = false;
  double attentionSoftcap = 0, logitSoftcap = 0; // 0: none
  /// Number of keys that a query sees, per layer; 0: all keys before it.
  llvm::SmallVector<int64_t> windows;
  /// Rotary positions of layers without and with a window.
  RopeConfig rope, windowRope;

  // The MLP, and the order of residual additions: the MLP's input includes attention's result, or both run in parallel.
  std::string activation;
  bool gated = false, mlpBias = false, parallelResidual = false;

  ExpertsConfig experts;

  // Table and head.  A lookup of the token `padding` gives its row no gradient.
  bool tied = false, headBias = false;
  std::optional<int64_t> padding;
  double embeddingScale = 1;

  // Whether weights are stored input x output (GPT-2's Conv1D) instead of output x input; whether
  // initial projections into the residual stream are smaller by 1 / sqrt(2 layers).
  bool storesInputByOutput = false, scaledInit = false;
  /// Whether a block's norms come after its weights in the arguments, as in most checkpoints.
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
