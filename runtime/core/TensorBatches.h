//===- TensorBatches.h - rows of named tensors
//-------------------------------===//
#ifndef BRAID_CORE_TENSORBATCHES_H
#define BRAID_CORE_TENSORBATCHES_H

#include "core/Batches.h"
#include "core/Safetensors.h"

namespace braid {

// For models that read no tokens: the data is a safetensors file with a tensor
// for each data input, of its name and type, whose first dimension counts rows.
// Row r of a step is chosen as TokenBatches chooses windows: random rows with
// replacement, or in order.
class TensorBatches : public BatchSource {
public:
  TensorBatches(const Model &model, const BatchOptions &options,
                const br_program *training, const br_program *evaluation);

  void fillTraining(const br_program &program, int64_t step, int microbatch,
                    int perStep) override;
  void fillEvaluation(const br_program &program, int64_t index,
                      int64_t count) override;
  BatchSize batchSize(const br_program &program) const override;
  int64_t trainingTokens() const override { return trainRows; }
  const char *unit() const override { return "rows"; }

private:
  void checkProgram(const br_program &program);
  // Writes row from(global row) of the file to each row of this rank.
  template <class F> void fillRows(const br_program &program, const F &from);

  const Model &model;
  BatchOptions options;
  SafetensorsFile file;
  int64_t rows = -1, trainRows = 0;
};

} // namespace braid
#endif // BRAID_CORE_TENSORBATCHES_H
