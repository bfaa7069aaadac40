//===- Streams.h - streams and events of a rank's device ------------------===//
//
// Three queues: computation, communication, and copies of inputs and results.  None of them waits
// for the host's default stream.  Events order the queues, and do not measure time.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_STREAMS_H
#define BRAID_CUDA_STREAMS_H

#include <cuda_runtime.h>

namespace braid {

// A stream of its own, on the current device.
class Stream {
public:
  // The device serves high priority first: other ranks wait for that stream.
  enum class Priority { Normal, High };
  explicit Stream(Priority priority = Priority::Normal);
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  operator cudaStream_t() const { return stream; }

private:
  cudaStream_t stream = nullptr;
};

class Event {
public:
  // A timed event records when the device passed it (ActionEvents).
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
  Stream communication{Stream::Priority::High}; // high, because all ranks wait for the last one
  Stream copy;
};

} // namespace braid
#endif // BRAID_CUDA_STREAMS_H
