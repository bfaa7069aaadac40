//===- TokenBatches.h - windows of text -----------------------------------===//
#ifndef BRAID_DATA_TOKENBATCHES_H
#define BRAID_DATA_TOKENBATCHES_H

#include "data/Batches.h"
#include "data/TokenFile.h"

#include <vector>

namespace braid {

// Fills inputs of role `tokens` with windows of the file and those of role
// `targets` with the same windows one token later.
//
// A random window of row r (microbatch * B + row, of a global batch of B rows)
// of step s starts at bounded(philox(counter = (s low, s high, r, 0), key =
// batch seed)) of all places where it fits.  Windows in order start at the
// multiples of their length; each token but the first is a target once a pass,
// those at the end in a window that is filled up with targets that do not count.
class TokenBatches : public BatchSource {
public:
  TokenBatches(const Model &model, const BatchOptions &options, const br_program *training,
               const br_program *evaluation);

  int64_t fillTraining(const br_program &program, int64_t step, int microbatch, int perStep) override;
  std::string nonFinite(const br_program &, int64_t, int) const override { return ""; }
  int64_t fillEvaluation(const br_program &program, int64_t index, int64_t count) override;
  RowOrder trainingOrder(const br_program &program, int perStep) const override;
  RowOrder evaluationOrder(const br_program &program) const override;
  BatchSize batchSize(const br_program &program) const override;
  int64_t trainingTokens() const override { return trainCount; }
  int64_t heldOutTokens() const override { return file.count() - trainCount; }
  const char *unit() const override { return "tokens"; }
  const char *rowUnit() const override { return "windows"; }

private:
  // Where a window starts and how many targets it has: fewer than its length at
  // the end of a part, none in a row that a batch lacks.
  struct Window {
    int64_t first, targets;
  };
  struct Part {
    int64_t begin, end;
  };
  int64_t windowsOf(const br_program &program, int64_t tokens) const;
  Window windowOf(const br_program &program, Part part, std::optional<int64_t> number) const;
  // Writes the windows at(global row) of this rank; returns the targets of all.
  template <class F> int64_t fillRows(const br_program &program, const F &at);
  void fillRow(const br_program &program, int64_t row, Window window);
  // How many targets of a window the loss counts.
  int64_t counted(Window window);

  const Model &model;
  BatchOptions options;
  TokenFile file;
  int64_t trainCount;                   // tokens [0, trainCount) are trained on, the rest held out
  std::vector<int32_t> tokens, targets; // of a window
};

} // namespace braid
#endif // BRAID_DATA_TOKENBATCHES_H
