//===- Decoder.h - what every family of language models has -----*- C++ -*-===//
//
// A decoder reads tokens, has a table of embeddings, blocks that add to a residual
// stream, a last norm and a head, tied to the table or not, and a mean loss.  Families
// differ in their blocks, in names and in how they store weights.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MODEL_DECODER_H
#define BRAID_LIB_MODEL_DECODER_H

#include "lib/Model/Model.h"
#include <optional>

namespace braid {

class DecoderBuilder {
protected:
  struct Linear {
    GraphValue weight;
    std::optional<GraphValue> bias;
    int64_t to = 0;
  };
  enum class Weights { FromTo, ToFrom };

  DecoderBuilder(BatchShape shape, int64_t vocab, int64_t width, double initStd, Weights weights)
      : shape(shape), hidden({shape.batch, shape.sequence, width}), vocab(vocab), width(width), initStd(initStd),
        weights(weights) {}

  /// Parameters.  `residualLayers` > 0 for a projection into the residual stream.
  GraphValue declareTable(llvm::StringRef name, int64_t rows, llvm::StringRef unit);
  Linear declareLinear(const std::string &name, int64_t from, int64_t to, bool bias, llvm::StringRef unit,
                       int64_t residualLayers = 0);
  /// The unit of the last norm and the head: that of the table which it is tied to, so that no
  /// norm is a unit of its own.
  static llvm::StringRef headUnit(bool isTied) { return isTied ? "embedding" : "head"; }
  /// The head's own weight, or `table`; then the inputs, with a key where anything is dropped.
  GraphValue declareHead(const GraphValue &table, bool isTied);
  void declareInputs(bool hasDropout);

  GraphValue linear(llvm::StringRef hint, const GraphValue &x, const Linear &params);
  GraphValue lookUp(llvm::StringRef hint, const GraphValue &table);
  GraphValue attention(const GraphValue &q, const GraphValue &k, const GraphValue &v, double scale, double dropout) {
    return model::attention(writer, q, k, v, scale, dropout, key, stream);
  }
  GraphValue drop(const GraphValue &x, double rate) { return model::dropout(writer, x, key, rate, stream); }
  /// Logits and loss of what the last norm made.  `title` says the family and its sizes.
  ModelGraph finish(const GraphValue &normed, const GraphValue &head, const std::string &title);

  BatchShape shape;
  llvm::SmallVector<int64_t, 4> hidden;
  GraphWriter writer;

private:
  int64_t vocab, width;
  double initStd;
  Weights weights;
  GraphValue tokens, targets, key;
  int64_t stream = 0; // of the next dropout
};

} // namespace braid

#endif // BRAID_LIB_MODEL_DECODER_H
