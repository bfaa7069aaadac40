//===- Graph.h - work of streams, captured once and replayed --------------===//
#ifndef BRAID_GPU_GRAPH_H
#define BRAID_GPU_GRAPH_H

#include "gpu/Streams.h"

namespace braid {

class GpuGraph {
public:
  GpuGraph() = default;
  ~GpuGraph();
  GpuGraph(GpuGraph &&other) noexcept : handle(other.handle) { other.handle = {}; }
  GpuGraph(const GpuGraph &) = delete;
  GpuGraph &operator=(const GpuGraph &) = delete;

  bool isMade() const { return handle.pointer; }
  // Begins a capture of the stream, and of streams tied to it by events.  Captures only this
  // thread's calls: other ranks, and threads that watch collectives, go on.
  GpuStatus begin(const GpuStream &stream);
  // Ends the capture.  If `keeps` is set, makes the graph, in which nodes keep the priority of their
  // streams; else drops the captured work.
  GpuStatus end(const GpuStream &stream, bool keeps);
  GpuStatus launch(const GpuStream &stream) const;
  static const char *const launchCall; // the name of that call

private:
  GpuHandle handle;
};

} // namespace braid
#endif // BRAID_GPU_GRAPH_H
