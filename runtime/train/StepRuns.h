//===- StepRuns.h - the runs of a training step ---------------------------===//
//
// A step is K - 1 runs of `accumulate` and one run of `train`. In a pipeline, it is the cells of the rank's
// row and one run of `train`; messages between ranks continue while cells run.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_STEPRUNS_H
#define BRAID_TRAIN_STEPRUNS_H

#include "core/Model.h"
#include "data/Batches.h"

namespace braid {

class StepRuns {
public:
  // Throws Error if the model lacks a program of a step.
  explicit StepRuns(Model &model)
      : model(model), table(model.table()), trainProgram(model.program("train")),
        accumulateProgram(table.accumulate > 1 && table.n_cells == 0 ? &model.program("accumulate") : nullptr),
        batchedProgram(*braid::batchedProgram(table)) {}

  const br_program &train() const { return trainProgram; }
  // The program that takes a microbatch: train, or the first cell of a pipeline.
  const br_program &batched() const { return batchedProgram; }
  bool isPipeline() const { return table.n_cells > 0; }

  // Runs microbatch `microbatch` of a step without pipeline, which has `microbatches`. The caller's
  // run(program, microbatch) writes inputs and runs the program.
  template <class F> void runMicrobatch(int microbatch, int microbatches, const F &run) {
    run(microbatch == microbatches - 1 ? trainProgram : *accumulateProgram, microbatch);
  }

  // Runs a step from microbatch `first` on; a pipeline starts at the first.
  template <class F> void runStep(int first, int microbatches, const F &run) {
    for (int32_t i = 0; i < table.n_cells; ++i)
      runCell(table.cells[i], run);
    for (int i = isPipeline() ? microbatches - 1 : first; i < microbatches; ++i)
      runMicrobatch(i, microbatches, run);
  }

private:
  template <class F> void runCell(const br_cell &cell, const F &run) {
    model.useSlotsOf(cell.microbatch);
    if (cell.kind == BR_CELL_START)
      model.startMessage(cell.index);
    else if (cell.kind == BR_CELL_WAIT)
      model.waitForMessage(cell.index);
    else
      run(table.programs[cell.index], cell.microbatch);
  }

  Model &model;
  const br_model &table;
  const br_program &trainProgram, *accumulateProgram;
  const br_program &batchedProgram;
};

} // namespace braid
#endif // BRAID_TRAIN_STEPRUNS_H
