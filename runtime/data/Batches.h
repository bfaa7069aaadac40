//===- Batches.h - sources of a program's inputs --------------------------===//
//
// A source writes the data inputs of a program. A run does not change its state: the batch of (step,
// microbatch) is a function of the batch seed, so a resumed job continues with the same data. The last part
// of the data is held out for evaluation.
//
// Batches are global: each rank reads the rows of a batch that its inputs hold. So ranks read disjoint
// rows, and all layouts read the same rows.
//
// In sequential order, a pass may end with a short batch. Programs have a fixed shape, so the missing rows
// are filled with the target that the loss ignores (br_loss.rows). Their ranks do not matter, because a
// mean divides by the count over all ranks. If the loss counts every row, an incomplete batch is skipped
// instead. The size of the data alone determines the last batch, so all ranks run the same programs.
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
  double holdout = 0.1; // held-out fraction of each file, from its end
  uint64_t seed = 1;
  bool sequential = false;
  // Whether a short last batch of the held-out part is filled with other rows, whose results are not read.
  bool fillsLastBatch = false;
};

// Size of a microbatch over all ranks.
struct BatchSize {
  int64_t rows;       // rows per rank
  int64_t readers;    // ranks, or groups of ranks, that read different rows
  int64_t length = 1; // tokens per row

  int64_t tokens() const { return rows * readers * length; }
};

// Contents of a microbatch over all ranks. Only the first rank counts the targets of rows that other ranks
// read.
struct BatchCount {
  int64_t tokens = 0;  // tokens or rows, with and without targets
  int64_t targets = 0; // targets that the loss counts; all if it ignores none
  int64_t ofEach = 0;  // targets of each reader, or kUneven
  static constexpr int64_t kUneven = -1;

  // Adds the next microbatch of a step.
  void add(const BatchCount &next, bool isFirst);
};

// Returns the count of a microbatch, given the number of targets in each row.
BatchCount countOf(const BatchSize &size, int64_t tokens, const std::vector<int64_t> &targetsOfRows);

// Rows in sequential order, pass after pass, one batch at a time.
struct RowOrder {
  int64_t rows;    // rows per pass
  int64_t batch;   // rows per batch over all ranks; in training, per step
  bool canBeShort; // whether the last batch of a pass may be short; else it is skipped

  int64_t batches() const { return canBeShort ? (rows + batch - 1) / batch : rows / batch; }
  // Returns the row at place `row` of batch `index`, counted from 0 over all passes; nothing beyond the end
  // of a short batch.
  std::optional<int64_t> at(int64_t index, int64_t row) const {
    int64_t place = index % batches() * batch + row;
    return place < rows ? std::optional(place) : std::nullopt;
  }
};

// Returns a warning if the batches skip rows, else an empty string. Throws Error if there is no batch.
// `part` and `unit` name the rows in messages.
std::string rowsLeftOut(const RowOrder &order, const char *part, const char *unit);

// The range of a dim that this rank's part of an input holds.
struct InputBlock {
  int64_t begin, count;
};
InputBlock inputBlock(const Model &model, const br_io &io, int dim);

class BatchSource {
public:
  virtual ~BatchSource() = default;

  // Fills microbatch `microbatch` of the `perStep` microbatches of a step, counted from 1.
  virtual BatchCount fillTraining(const br_program &program, int64_t step, int microbatch, int perStep) = 0;
  // Describes data of a step that is not finite; empty if all data is finite.
  virtual std::string nonFinite(const br_program &program, int64_t step, int perStep) const = 0;
  // Whether any target of the training part counts.
  virtual bool hasTrainingTargets() = 0;
  // Fills batch `index` of `count` batches that cover the held-out part evenly; `count` is at most its
  // number of batches. Returns how many targets (or rows) the loss counts over all ranks.
  virtual int64_t fillEvaluation(const br_program &program, int64_t index, int64_t count) = 0;

  // Sequential order of the windows (or rows) of the training part and of the held-out part.
  virtual RowOrder trainingOrder(const br_program &program, int perStep) const = 0;
  virtual RowOrder evaluationOrder(const br_program &program) const = 0;

  virtual BatchSize batchSize(const br_program &program) const = 0;
  // Tokens (or rows, if there are no tokens) in the training part and in the held-out part.
  virtual int64_t trainingTokens() const = 0;
  virtual int64_t heldOutTokens() const = 0;
  // Unit of a batch ("tokens" or "rows"), and unit of the source ("windows" or "rows").
  virtual const char *unit() const = 0;
  virtual const char *rowUnit() const = 0;
  // Texts of the tokens, if the data has them.
  virtual std::optional<TokenTable> tokenTable() const { return std::nullopt; }
};

// Whether a program has inputs that are filled from data.
bool readsData(const br_program &program);
// Returns the program of a step that takes a microbatch: `train`, or the first cell of a pipeline, whose
// `train` takes no batch. Null if there is none.
const br_program *batchedProgram(const br_model &model);

// Opens the source that suits the model: text or token files if it has inputs of role `tokens`, else a
// safetensors file with a tensor for each data input. `training` and `evaluation` are the programs to fill;
// either may be null. Throws Error if the data is too short for them or does not fit. All ranks must call
// it together.
std::unique_ptr<BatchSource> openBatches(Model &model, const BatchOptions &options, const br_program *training,
                                         const br_program *evaluation);

} // namespace braid
#endif // BRAID_DATA_BATCHES_H
