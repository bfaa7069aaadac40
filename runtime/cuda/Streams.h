//===- Streams.h - streams and events of a rank's device ------------------===//
//
// Three queues: what computes, what communicates, and what copies inputs and results.
// None waits for the host's default stream.  Events order them; nothing is timed by
// these events.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_STREAMS_H
#define BRAID_CUDA_STREAMS_H

#include <cuda_runtime.h>

namespace braid {

// A stream of its own, of the device that is current.
class Stream {
public:
  // Of two streams with work the device serves the one that others wait for first.
  enum class Priority { Usual, High };
  explicit Stream(Priority priority = Priority::Usual);
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  operator cudaStream_t() const { return stream; }

private:
  cudaStream_t stream = nullptr;
};

class Event {
public:
  // One that is timed shows when the device came by (ActionEvents).
  enum class Kind { Order, Timed };
  explicit Event(Kind kind = Kind::Order);
  ~Event();
  Event(Event &&other) noexcept : event(other.event) { other.event = nullptr; }
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;

  operator cudaEvent_t() const { return event; }

private:
  cudaEvent_t event = nullptr;
};

struct Streams {
  Stream compute;
  Stream communication{Stream::Priority::High}; // all ranks wait for the last to start
  Stream copy;
};

} // namespace braid
#endif // BRAID_CUDA_STREAMS_H
