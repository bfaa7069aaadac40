//===- TensorBatches.h - rows of named tensors ----------------------------===//
#ifndef BRAID_DATA_TENSORBATCHES_H
#define BRAID_DATA_TENSORBATCHES_H

#include "base/Safetensors.h"
#include "data/Batches.h"

#include <vector>

namespace braid {

// For models that read no tokens: the data is a safetensors file with a tensor
// for each data input, of its name and type, whose first dimension counts rows.
// Row r of a step is chosen as TokenBatches chooses windows: random rows with
// replacement, or in order.  Numbers that the model indexes with are checked.  A row that a short batch lacks is a copy
// of the part's first with targets that do not count.
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
  // The row of the file that is row `row` of a step; none where the batch is short.
  std::optional<int64_t> trainingRow(const br_program &program, int64_t step, int perStep, int64_t row) const;
  // Writes row at(global row) of the part that begins at row `begin` to each row
  // of this rank; returns how many of all ranks there are.
  template <class F> int64_t fillRows(const br_program &program, int64_t begin, const F &at);
  void fillRow(const br_program &program, const br_io &io, int64_t row, int64_t from, bool isThere);
  // How many targets of a row of the file the loss counts.
  int64_t counted(const br_io &targets, int64_t row);
  // The input of the targets that the loss may leave out; null where it leaves none out.
  const br_io *targetsOf(const br_program &program) const;

  const Model &model;
  BatchOptions options;
  const br_program *const training;
  SafetensorsFile file;
  int64_t rows = -1, trainRows = 0;
  std::vector<int32_t> targets;       // of a row
  std::vector<int64_t> targetsOfRows; // of a microbatch
};

} // namespace braid
#endif // BRAID_DATA_TENSORBATCHES_H
