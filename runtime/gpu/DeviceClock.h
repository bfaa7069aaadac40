//===- DeviceClock.h - times of device events by the host's clock ---------===//
#ifndef BRAID_GPU_DEVICECLOCK_H
#define BRAID_GPU_DEVICECLOCK_H

#include "base/Clock.h"
#include "gpu/Streams.h"

namespace braid {

// Converts events to the host's clock.  A GPU gives only the time between two events.  So the host
// records one event on an empty stream and waits for it; the error is the time of that wait, some
// microseconds.
class DeviceClock {
public:
  explicit DeviceClock(const GpuStream &stream) {
    stream.synchronize().check();
    origin.record(stream).check();
    origin.synchronize().check();
    seconds = secondsNow();
  }

  // Time of a timed event that the device has passed, in seconds of secondsNow().  The time is
  // milliseconds in a float, so a minute after the origin the resolution is 4 us.
  double timeOf(const GpuEvent &event) const { return seconds + origin.millisecondsTo(event) / 1e3; }

private:
  GpuEvent origin{GpuEvent::Kind::Timed};
  double seconds;
};

} // namespace braid
#endif // BRAID_GPU_DEVICECLOCK_H
