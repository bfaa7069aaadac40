//===- ModelFlops.cpp - the least time that a step could take -------------===//

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

double braid::secondsAtPeak(const br_model &model, int microbatches) {
  const br_program *train = findProgram(model, "train"), *accumulate = findProgram(model, "accumulate");
  if (!train || !(model.peak_flops > 0 && model.peak_half_flops > 0))
    return 0;
  const double others = microbatches > 1 && accumulate ? (microbatches - 1) * secondsOf(model, accumulate) : 0;
  return secondsOf(model, train) + others;
}
