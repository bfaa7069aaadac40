//===- StepGraph.h - a program as a CUDA graph ----------------------------===//
//
// A program puts the same work on the streams at every run: its addresses are fixed in the arena,
// and values that change from step to step are read from there.  So the program is captured once,
// with its collectives on the communication stream, and replayed.
//
// The first run is not captured: libraries and NCCL initialize in it, which a capture would not
// allow.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_STEPGRAPH_H
#define BRAID_CUDA_STEPGRAPH_H

#include "cuda/Check.h"

#include <functional>

namespace braid {

class StepGraph {
public:
  StepGraph() = default;
  ~StepGraph();
  StepGraph(StepGraph &&other) noexcept : runs(other.runs), graph(other.graph) { other.graph = nullptr; }
  StepGraph(const StepGraph &) = delete;
  StepGraph &operator=(const StepGraph &) = delete;

  // Runs the work of `launch` on the stream, and on streams tied to it by events.  `replay`
  // launches a graph.
  using Launch = std::function<br_status()>;
  using Replay = std::function<cudaError_t(cudaGraphExec_t)>;
  br_status run(cudaStream_t stream, const Launch &launch, const Replay &replay, ProgramErrors &errors);

private:
  br_status capture(cudaStream_t stream, const Launch &launch, ProgramErrors &errors);

  int runs = 0;
  cudaGraphExec_t graph = nullptr;
};

} // namespace braid
#endif // BRAID_CUDA_STEPGRAPH_H
