//===- StepGraph.cpp - a program as a CUDA graph --------------------------===//

#include "cuda/StepGraph.h"

using namespace braid;

StepGraph::~StepGraph() {
  if (graph)
    cudaGraphExecDestroy(graph);
}

br_status StepGraph::run(cudaStream_t stream, const Launch &launch, const Replay &replay, ProgramErrors &errors) {
  if (runs < 1) {
    ++runs;
    return launch();
  }
  if (!graph && capture(stream, launch, errors) != BR_OK)
    return BR_ERROR;
  errors.note(replay(graph), "cudaGraphLaunch");
  return errors.any() ? BR_ERROR : BR_OK;
}

// Captures only this thread's calls: other ranks, and threads that watch collectives, go on.
br_status StepGraph::capture(cudaStream_t stream, const Launch &launch, ProgramErrors &errors) {
  errors.note(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
              "cudaStreamBeginCapture (--cuda-graph=off goes without)");
  if (errors.any())
    return BR_ERROR;
  const br_status launched = launch();
  errors.at(-1); // later errors concern all actions
  cudaGraph_t captured = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &captured);
  if (launched == BR_OK) // else its own error is the reason
    errors.note(ended, "cudaStreamEndCapture (--cuda-graph=off goes without)");
  if (launched == BR_OK && ended == cudaSuccess) // collectives keep the priority of their stream
    errors.note(cudaGraphInstantiate(&graph, captured, cudaGraphInstantiateFlagUseNodePriority),
                "cudaGraphInstantiate (--cuda-graph=off goes without)");
  if (captured)
    cudaGraphDestroy(captured);
  return launched == BR_OK && !errors.any() ? BR_OK : BR_ERROR;
}
