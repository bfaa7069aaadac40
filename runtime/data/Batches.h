//===- Batches.h - where the inputs of a program come from ----------------===//
//
// A source writes the data inputs of a program.  It has no state that a run
// changes: the batch of (step, microbatch) is a function of the batch seed, so
// a resumed job goes on with the same data.  The last part of the data is held
// out for evaluation.
//
// Batches are global: of each, a rank reads the rows that its inputs hold, so
// ranks read disjoint rows, and every layout reads the same ones.
//
// Data in order end with a short batch.  Programs have one shape, so the rows
// that it lacks are there, with the target that the loss leaves out
// (br_loss.rows).  Which ranks have them does not matter: a mean divides by the
// count of all.  Where a loss counts every row, a batch that is not whole is left
// out instead.  The size of the data alone says which batch is the last, so all
// ranks run the same programs.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DATA_BATCHES_H
#define BRAID_DATA_BATCHES_H

#include "core/Model.h"
#include "data/DataFiles.h"
#include "data/TokenTable.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace braid {

struct BatchOptions {
  DataFiles data;
  double holdout = 0.1; // fraction of each file, from its end
  uint64_t seed = 1;
  bool sequential = false;
  // Whether a last batch of the held-out part is filled up by other rows, whose results nobody reads.
  bool fillsUp = false;
};

// A microbatch of all ranks.
struct BatchSize {
  int64_t rows;       // of a rank
  int64_t readers;    // ranks, or groups of them, that read different rows
  int64_t length = 1; // tokens in a row

  int64_t tokens() const { return rows * readers * length; }
};

// What a microbatch of all ranks holds.  Of rows that other ranks read, the first rank alone counts targets.
struct BatchCount {
  int64_t tokens = 0;  // or rows: with and without targets
  int64_t targets = 0; // that the loss counts; all where it leaves none out
  int64_t ofEach = 0;  // targets of each reader, or kUneven
  static constexpr int64_t kUneven = -1;

  // Adds the next microbatch of a step.
  void add(const BatchCount &next, bool isFirst);
};

// The count of a microbatch from the targets of each of its rows.
BatchCount countOf(const BatchSize &size, int64_t tokens, const std::vector<int64_t> &targetsOfRows);

// Rows that are taken in order, pass after pass, a batch at a time.
struct RowOrder {
  int64_t rows;    // of a pass
  int64_t batch;   // rows of a batch of all ranks; in training of a step
  bool canBeShort; // the last batch of a pass; else it is left out

  int64_t batches() const { return canBeShort ? (rows + batch - 1) / batch : rows / batch; }
  // Row `row` of batch `index`, counted from 0 over all passes; none where the
  // batch is short.
  std::optional<int64_t> at(int64_t index, int64_t row) const {
    int64_t place = index % batches() * batch + row;
    return place < rows ? std::optional(place) : std::nullopt;
  }
};

// What to warn of when the batches leave rows out; empty if they have all.
// Throws Error when there is no batch.  `part` and `unit` say what the rows are.
std::string rowsLeftOut(const RowOrder &order, const char *part, const char *unit);

// The block of a dim that this rank's part of an input holds.
struct InputBlock {
  int64_t begin, count;
};
InputBlock inputBlock(const Model &model, const br_io &io, int dim);

class BatchSource {
public:
  virtual ~BatchSource() = default;

  // Microbatch `microbatch` of `perStep` of a step (counted from 1).
  virtual BatchCount fillTraining(const br_program &program, int64_t step, int microbatch, int perStep) = 0;
  // What is not finite in the data of a step; empty if everything is.
  virtual std::string nonFinite(const br_program &program, int64_t step, int perStep) const = 0;
  // Whether some target of the part that is trained on counts.
  virtual bool hasTrainingTargets() = 0;
  // Batch `index` of `count`, no more than the held-out part has, that cover it
  // evenly.  Returns how many targets (or rows) the loss counts, of all ranks.
  virtual int64_t fillEvaluation(const br_program &program, int64_t index, int64_t count) = 0;

  // The windows (or rows) of the two parts in order.
  virtual RowOrder trainingOrder(const br_program &program, int perStep) const = 0;
  virtual RowOrder evaluationOrder(const br_program &program) const = 0;

  virtual BatchSize batchSize(const br_program &program) const = 0;
  // Tokens (or rows, where there are no tokens) in the part that is trained on,
  // and in the one that is held out.
  virtual int64_t trainingTokens() const = 0;
  virtual int64_t heldOutTokens() const = 0;
  // What a batch is counted in ("tokens" or "rows"), and what it is taken from
  // ("windows" or "rows").
  virtual const char *unit() const = 0;
  virtual const char *rowUnit() const = 0;
  // What the tokens mean, where the data says it.
  virtual std::optional<TokenTable> tokenTable() const { return std::nullopt; }
};

// Whether a program has inputs that are filled from data.
bool takesData(const br_program &program);
// The program of a step that takes a microbatch: `train`, or the first cell of a pipeline, whose `train` has no
// batch.  Null where there is none.
const br_program *batchedProgram(const br_model &model);

// The source that suits the model: text or token files for one with inputs of
// role `tokens`, else a safetensors file with a tensor for each data input.
// `training` and `evaluation` are the programs to be fed; either may be null.
// Throws Error when the data is too short for them or does not fit.  All ranks open
// theirs together.
std::unique_ptr<BatchSource> openBatches(Model &model, const BatchOptions &options, const br_program *training,
                                         const br_program *evaluation);

} // namespace braid
#endif // BRAID_DATA_BATCHES_H
