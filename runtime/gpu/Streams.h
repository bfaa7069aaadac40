//===- Streams.h - streams and events of a rank's device ------------------===//
//
// Three queues: computation, communication, and copies of inputs and results.  None of them waits
// for the host's default stream.  Events order the queues, and do not measure time.
//
// The vendor's folder defines the functions.  Those that return a GpuStatus queue work, and do not
// wait for the device; `synchronize` waits.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_STREAMS_H
#define BRAID_GPU_STREAMS_H

#include "gpu/Status.h"

#include <cstddef>
#include <optional>

namespace braid {

// A handle of the vendor's library, for the code that calls the library.
struct GpuHandle {
  void *pointer = nullptr;
  template <class T> operator T *() const { return static_cast<T *>(pointer); }
};

class GpuEvent;

// A stream of its own, on the current device.
class GpuStream {
public:
  // The device serves high priority first: other ranks wait for that stream.
  enum class Priority { Normal, High };
  explicit GpuStream(Priority priority = Priority::Normal);
  ~GpuStream();
  GpuStream(const GpuStream &) = delete;
  GpuStream &operator=(const GpuStream &) = delete;

  // Makes later work wait for the event.
  GpuStatus wait(const GpuEvent &event) const;
  GpuStatus copyToDevice(void *to, const void *from, size_t bytes) const;
  GpuStatus copyToHost(void *to, const void *from, size_t bytes) const;
  GpuStatus copyOnDevice(void *to, const void *from, size_t bytes) const;
  // Copies `rows` pieces of `bytes`; the pitches are the bytes between two pieces.
  GpuStatus copyOnDevice(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t bytes, size_t rows) const;
  GpuStatus fillZeros(void *at, size_t bytes) const;
  GpuStatus synchronize() const;
  // Whether work is captured (Graph.h).  Throws Error.
  bool isCapturing() const;

  GpuHandle native() const { return handle; }

private:
  GpuHandle handle;
};

class GpuEvent {
public:
  // A timed event records when the device passed it (ActionEvents).
  enum class Kind { Order, Timed };
  explicit GpuEvent(Kind kind = Kind::Order);
  ~GpuEvent();
  GpuEvent(GpuEvent &&other) noexcept : handle(other.handle) { other.handle = {}; }
  GpuEvent(const GpuEvent &) = delete;
  GpuEvent &operator=(const GpuEvent &) = delete;

  GpuStatus record(const GpuStream &stream) const;
  GpuStatus synchronize() const;
  // Returns no value until the device has passed the event; then the result of the work before it.
  std::optional<GpuStatus> query() const;
  // Milliseconds from one timed event to a later one, both of which the device has passed.  Throws Error.
  float millisecondsTo(const GpuEvent &later) const;

  GpuHandle native() const { return handle; }

private:
  GpuHandle handle;
};

struct Streams {
  GpuStream compute;
  GpuStream communication{GpuStream::Priority::High}; // high, because all ranks wait for the last one
  GpuStream copy;
};

} // namespace braid
#endif // BRAID_GPU_STREAMS_H
