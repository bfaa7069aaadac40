//===- DeviceCollectives.h - how ranks on GPUs talk -----------------------===//
//
// Starts and waits of a program's collectives, by their places in
// br_model.collectives.  An implementation puts them on the communication stream
// (NcclCollectives), or hands them to a thread that copies through the host's memory
// (StagedTransport).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_DEVICECOLLECTIVES_H
#define BRAID_CUDA_DEVICECOLLECTIVES_H

#include "braid_rt.h"
#include "core/Rank.h"
#include "cuda/Streams.h"

#include <cstddef>
#include <memory>

namespace braid {

class DeviceCollectives {
public:
  virtual ~DeviceCollectives() = default;

  // What is on the compute stream by now comes before the collective.
  virtual br_status start(int32_t index) = 0;
  // What is put on the compute stream from now on comes after it.
  virtual br_status wait(int32_t index) = 0;

  // Whether starts and waits do nothing but put work on streams, so that a CUDA graph
  // can hold them.
  virtual bool canBeCaptured() const = 0;

  // Waits until the device has come by `event`, with an eye on the other ranks.
  // BR_ERROR when one has died, or the time-out has passed: then error() says why, and
  // nothing is left on a stream that waits for it.
  virtual br_status synchronize(cudaEvent_t event) = 0;

  // Why a start, a wait or a synchronize failed.
  virtual const char *error() const = 0;
};

// What they run in: the rank's device is current in the calling thread.
struct DevicePlace {
  int device;
  std::byte *arena;
  const Streams &streams;
};

// Makes those of the rank's transport.  Every rank does so in the same order.  Throws
// Error when the transport cannot run here.
std::unique_ptr<DeviceCollectives> makeDeviceCollectives(const br_model &model, const Rank &rank,
                                                         const DevicePlace &place);

} // namespace braid
#endif // BRAID_CUDA_DEVICECOLLECTIVES_H
