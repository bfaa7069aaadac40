//===- TokenBatches.h - windows of text
//--------------------------------------===//
#ifndef BRAID_CORE_TOKENBATCHES_H
#define BRAID_CORE_TOKENBATCHES_H

#include "core/Batches.h"
#include "core/TokenFile.h"

#include <vector>

namespace braid {

// Fills inputs of role `tokens` with windows of the file and those of role
// `targets` with the same windows one token later.
//
// A random window of row r (microbatch * B + row, of a global batch of B rows)
// of step s starts at bounded(philox(counter = (s low, s high, r, 0), key =
// batch seed)) of all places where it fits; a sequential one at the ((s - 1) *
// rows a step + r)-th multiple of the window's length, again from the start
// after the end.
class TokenBatches : public BatchSource {
public:
  TokenBatches(const Model &model, const BatchOptions &options,
               const br_program *training, const br_program *evaluation);

  void fillTraining(const br_program &program, int64_t step, int microbatch,
                    int perStep) override;
  void fillEvaluation(const br_program &program, int64_t index,
                      int64_t count) override;
  BatchSize batchSize(const br_program &program) const override;
  int64_t trainingTokens() const override { return trainCount; }
  const char *unit() const override { return "tokens"; }

private:
  // Calls first(global row) for the rows of this rank, and writes that window.
  template <class F> void fillRows(const br_program &program, const F &first);
  void fillRow(const br_program &program, int64_t row, int64_t first);

  const Model &model;
  BatchOptions options;
  TokenFile file;
  int64_t
      trainCount; // tokens [0, trainCount) are trained on, the rest held out
  std::vector<int32_t> window;
};

} // namespace braid
#endif // BRAID_CORE_TOKENBATCHES_H
