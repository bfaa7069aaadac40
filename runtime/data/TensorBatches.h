//===- TensorBatches.h - rows of named tensors ----------------------------===//
#ifndef BRAID_DATA_TENSORBATCHES_H
#define BRAID_DATA_TENSORBATCHES_H

#include "base/Safetensors.h"
#include "data/Batches.h"

#include <vector>

namespace braid {

// Source for models without token inputs: the data is a safetensors file with one tensor per data input, of
// the same name and type. The first dim of a tensor counts rows. Rows of a step are chosen like the windows
// in TokenBatches: at random with replacement, or in order. Numbers that are used as indices are checked. A
// missing row of a short batch is a copy of the part's first row, with targets that the loss ignores.
class TensorBatches : public BatchSource {
public:
  TensorBatches(const Model &model, const BatchOptions &options, const br_program *training,
                const br_program *evaluation);

  BatchCount fillTraining(const br_program &program, int64_t step, int microbatch, int perStep) override;
  bool hasTrainingTargets() override;
  std::string nonFinite(const br_program &program, int64_t step, int perStep) const override;
  int64_t fillEvaluation(const br_program &program, int64_t index, int64_t count) override;
  RowOrder trainingOrder(const br_program &program, int perStep) const override;
  RowOrder evaluationOrder(const br_program &program) const override;
  BatchSize batchSize(const br_program &program) const override;
  int64_t trainingTokens() const override { return trainRows; }
  int64_t heldOutTokens() const override { return rows - trainRows; }
  const char *unit() const override { return "rows"; }
  const char *rowUnit() const override { return "rows"; }

private:
  void checkProgram(const br_program &program);
  // Returns the file's row for row `row` of a step; nothing beyond the end of a short batch.
  std::optional<int64_t> trainingRow(const br_program &program, int64_t step, int perStep, int64_t row) const;
  // Fills each row of this rank with row at(global row), counted from `begin`, the first row of the part.
  // Returns how many rows over all ranks exist.
  template <class F> int64_t fillRows(const br_program &program, int64_t begin, const F &at);
  void fillRow(const br_program &program, const br_io &io, int64_t row, int64_t from, bool isPresent);
  // Returns how many targets of a file's row the loss counts.
  int64_t counted(const br_io &targets, int64_t row);
  // Returns the input of the targets that the loss may ignore; null if it ignores none.
  const br_io *targetsOf(const br_program &program) const;

  const Model &model;
  BatchOptions options;
  const br_program *const training;
  SafetensorsFile file;
  int64_t rows = -1, trainRows = 0;
  std::vector<int32_t> targets;       // of one row
  std::vector<int64_t> targetsOfRows; // of each row of a microbatch
};

} // namespace braid
#endif // BRAID_DATA_TENSORBATCHES_H
