//===- Capture.h - graphs -------------------------------------------------===//
//
// What was issued to streams under capture is a list of nodes: work, records of events and
// waits for them.  A replay issues them again, the origin's to the stream of the launch, those
// of each other stream to one that the graph keeps for it, with events of the graph's own:
// so the order of a graph is exactly that of the streams that it was captured from.
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
  // Whether all nodes come before the origin's last.
  bool isJoined() const;
};

cudaError_t noteWait(cudaStream_t stream, cudaEvent_t event);

// Whether a call that waits or allocates is refused, as this thread captures; the
// captures are then invalid.
bool refusesUnsafeCall();
// The host waits until the stream is empty.
cudaError_t waitForStream(cudaStream_t stream);

} // namespace shim
#endif // BRAID_SHIM_CAPTURE_H
