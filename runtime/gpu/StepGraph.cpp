//===- StepGraph.cpp - a program as a graph -------------------------------===//

#include "gpu/StepGraph.h"

using namespace braid;

br_status StepGraph::run(const GpuStream &stream, const Launch &launch, const Replay &replay, ProgramErrors &errors) {
  if (runs < 1) {
    ++runs;
    return launch();
  }
  if (!graph.isMade() && capture(stream, launch, errors) != BR_OK)
    return BR_ERROR;
  errors.note(replay(graph));
  return errors.any() ? BR_ERROR : BR_OK;
}

br_status StepGraph::capture(const GpuStream &stream, const Launch &launch, ProgramErrors &errors) {
  constexpr const char *advice = " (--cuda-graph=off goes without)";
  errors.note(graph.begin(stream), advice);
  if (errors.any())
    return BR_ERROR;
  const br_status launched = launch();
  errors.at(-1); // later errors concern all actions
  const GpuStatus ended = graph.end(stream, /*keeps=*/launched == BR_OK);
  if (launched == BR_OK) // else its own error is the reason
    errors.note(ended, advice);
  return launched == BR_OK && !errors.any() ? BR_OK : BR_ERROR;
}
