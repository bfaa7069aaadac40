//===- StepGraph.h - a program as a graph ---------------------------------===//
//
// A program puts the same work on the streams at every run: its addresses are fixed in the arena,
// and values that change from step to step are read from there.  So the program is captured once,
// with its collectives on the communication stream, and replayed.
//
// The first run is not captured: libraries initialize in it, which a capture would not allow.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_STEPGRAPH_H
#define BRAID_GPU_STEPGRAPH_H

#include "gpu/Graph.h"

#include <functional>

namespace braid {

class StepGraph {
public:
  // Runs the work of `launch` on the stream, and on streams tied to it by events.  `replay`
  // launches a graph.
  using Launch = std::function<br_status()>;
  using Replay = std::function<GpuStatus(const GpuGraph &)>;
  br_status run(const GpuStream &stream, const Launch &launch, const Replay &replay, ProgramErrors &errors);

private:
  br_status capture(const GpuStream &stream, const Launch &launch, ProgramErrors &errors);

  int runs = 0;
  GpuGraph graph;
};

} // namespace braid
#endif // BRAID_GPU_STEPGRAPH_H
