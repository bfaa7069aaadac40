//===- Capture.h - graphs -------------------------------------------------===//
//
// A capture is a list of the nodes that were issued to its streams: work, records of events and waits for them. A
// replay issues them again, with events of the graph's own. Nodes of the origin go to the stream of the launch, and
// nodes of each other stream to a stream that the graph keeps for it. So a graph has exactly the order of the captured
// streams.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_CAPTURE_H
#define BRAID_SHIM_CAPTURE_H

#include "Queues.h"

namespace shim {

struct Node {
  enum Kind { Task, Record, Wait } kind;
  int stream;    // its place in Capture::streams
  MakeWork make; // of a task
  Action action;
  size_t record = 0; // of a wait: the node that it waits for
};

struct Capture {
  std::vector<cudaStream_t> streams; // the first is the origin
  std::vector<Node> nodes;
  cudaStreamCaptureMode mode;
  int host;
  bool invalid = false;

  cudaError_t note(cudaStream_t stream, const MakeWork &make);
  cudaError_t noteRecord(cudaStream_t stream, cudaEvent_t event);
  int placeOf(cudaStream_t stream) const;
  // Returns whether all nodes come before the origin's last one.
  bool isJoined() const;
};

cudaError_t noteWait(cudaStream_t stream, cudaEvent_t event);

// Returns whether a call that waits or allocates is refused because this thread captures. Makes the captures invalid in
// this case.
bool refusesUnsafeCall();
// Makes the host wait until the stream is empty.
cudaError_t waitForStream(cudaStream_t stream);

} // namespace shim
#endif // BRAID_SHIM_CAPTURE_H
