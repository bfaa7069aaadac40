//===- DeviceClock.h - the time of a device's events by the host's clock --===//
#ifndef BRAID_CUDA_DEVICECLOCK_H
#define BRAID_CUDA_DEVICECLOCK_H

#include "base/Clock.h"
#include "cuda/Check.h"
#include "cuda/Streams.h"

namespace braid {

// CUDA tells the time between two events.  One that the host has waited for, on a stream that is
// empty, ties them to its clock, to the time that such a wait takes: some microseconds.
class DeviceClock {
public:
  explicit DeviceClock(cudaStream_t stream) {
    checkCuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    checkCuda(cudaEventRecord(origin, stream), "cudaEventRecord");
    checkCuda(cudaEventSynchronize(origin), "cudaEventSynchronize");
    seconds = secondsNow();
  }

  // In seconds of secondsNow(), for a timed event that the device has come by.  CUDA rounds to a
  // float of milliseconds: a minute after the origin to 4 us.
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
