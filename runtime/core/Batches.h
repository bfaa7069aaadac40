//===- Batches.h - where the inputs of a program come from
//------------------===//
//
// A source writes the data inputs of a program.  It has no state that a run
// changes: the batch of (step, microbatch) is a function of the batch seed, so
// a resumed job goes on with the same data.  The last part of the data is held
// out for evaluation.
//
// Batches are global: of each, a rank reads the rows that its inputs hold, so
// ranks read disjoint rows, and every layout reads the same ones.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_BATCHES_H
#define BRAID_CORE_BATCHES_H

#include "core/Model.h"

#include <cstdint>
#include <memory>
#include <string>

namespace braid {

struct BatchOptions {
  std::string path;
  double holdout = 0.1; // fraction of the data, from the end
  uint64_t seed = 1;
  bool sequential = false;
};

// A microbatch of all ranks.
struct BatchSize {
  int64_t rows;       // of a rank
  int64_t readers;    // ranks, or groups of them, that read different rows
  int64_t length = 1; // tokens in a row

  int64_t tokens() const { return rows * readers * length; }
};

// The block of a dim that this rank's part of an input holds.
struct InputBlock {
  int64_t begin, count;
};
InputBlock inputBlock(const Model &model, const br_io &io, int dim);

class BatchSource {
public:
  virtual ~BatchSource() = default;

  // Microbatch `microbatch` of `perStep` of a step (counted from 1).
  virtual void fillTraining(const br_program &program, int64_t step,
                            int microbatch, int perStep) = 0;
  // Batch `index` of `count` that cover the held-out part evenly.
  virtual void fillEvaluation(const br_program &program, int64_t index,
                              int64_t count) = 0;

  virtual BatchSize batchSize(const br_program &program) const = 0;
  // Tokens (or rows, where there are no tokens) in the part that is trained on.
  virtual int64_t trainingTokens() const = 0;
  // What a batch is counted in: "tokens" or "rows".
  virtual const char *unit() const = 0;
};

// The source that suits the model: a text or token file for one with inputs of
// role `tokens`, else a safetensors file with a tensor for each data input.
// `training` and `evaluation` are the programs to be fed; either may be null.
// Throws Error when the data is too short for them or does not fit.
std::unique_ptr<BatchSource> openBatches(const Model &model,
                                         const BatchOptions &options,
                                         const br_program *training,
                                         const br_program *evaluation);

} // namespace braid
#endif // BRAID_CORE_BATCHES_H
