//===- DeviceClock.h - times of device events by the host's clock ---------===//
#ifndef BRAID_CUDA_DEVICECLOCK_H
#define BRAID_CUDA_DEVICECLOCK_H

#include "base/Clock.h"
#include "cuda/Check.h"
#include "cuda/Streams.h"

namespace braid {

// Converts events to the host's clock.  CUDA gives only the time between two events.  So the host
// records one event on an empty stream and waits for it; the error is the time of that wait, some
// microseconds.
class DeviceClock {
public:
  explicit DeviceClock(cudaStream_t stream) {
    checkCuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    checkCuda(cudaEventRecord(origin, stream), "cudaEventRecord");
    checkCuda(cudaEventSynchronize(origin), "cudaEventSynchronize");
    seconds = secondsNow();
  }

  // Time of a timed event that the device has passed, in seconds of secondsNow().  CUDA returns
  // milliseconds as a float, so a minute after the origin the resolution is 4 us.
  double timeOf(cudaEvent_t event) const {
    float milliseconds = 0;
    checkCuda(cudaEventElapsedTime(&milliseconds, origin, event), "cudaEventElapsedTime");
    return seconds + milliseconds / 1e3;
  }

private:
  Event origin{Event::Kind::Timed};
  double seconds;
};

} // namespace braid
#endif // BRAID_CUDA_DEVICECLOCK_H
