//===- ModelFlops.cpp - lower bound of a step's time ----------------------===//

#include "train/ModelFlops.h"

#include "core/Model.h"

#include <cstring>
#include <span>

using namespace braid;

namespace {

double secondsOf(const br_model &model, const br_program *program) {
  double seconds = 0;
  for (const br_action_desc &action : std::span(program->actions, static_cast<size_t>(program->n_actions)))
    if (action.phase && std::strcmp(action.phase, "forward") == 0)
      seconds += action.matrix_flops / (action.type == BR_BF16 ? model.peak_half_flops : model.peak_flops);
  return 3 * seconds;
}

} // namespace

// Ranks of a pipeline share the computation of a step.
static double secondsOfCells(const br_model &first) {
  double seconds = 0;
  int kinds = 0;
  for (const br_model *model = &first; model; model = model->others, ++kinds)
    for (int32_t i = 0; i < model->n_cells; ++i)
      if (model->cells[i].kind == BR_CELL_RUN)
        seconds += secondsOf(*model, &model->programs[model->cells[i].index]);
  return seconds / kinds;
}

double braid::secondsAtPeak(const br_model &model, int microbatches) {
  const br_program *train = findProgram(model, "train"), *accumulate = findProgram(model, "accumulate");
  if (!train || !(model.peak_flops > 0 && model.peak_half_flops > 0))
    return 0;
  if (model.n_cells > 0)
    return secondsOfCells(model);
  const double others = microbatches > 1 && accumulate ? (microbatches - 1) * secondsOf(model, accumulate) : 0;
  return secondsOf(model, train) + others;
}
