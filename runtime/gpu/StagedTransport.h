//===- StagedTransport.h - device memory over transports of the host ------===//
//
// Turns a transport of host memory into a transport of device memory.  For each operation the
// communication thread waits until the device reaches its start, copies the sent data down into
// pinned memory, runs the operation there, and copies the received data up.  Over the transport of
// threads, ranks can share one device: `device-threads`.
//
// Operations before the program's first collective are messages of the ranks in host memory, and
// pass through unchanged.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_STAGEDTRANSPORT_H
#define BRAID_GPU_STAGEDTRANSPORT_H

#include "comm/Transport.h"
#include "gpu/Streams.h"

#include <deque>
#include <mutex>

namespace braid {

// Queue of the events around each operation, in the order of starts.  The thread that starts
// collectives fills it; the communication thread, which may end later, empties it.
class StagingQueue {
public:
  explicit StagingQueue(int device) : device(device) {}

  struct EventPair {
    GpuEvent begin = GpuEvent(); // recorded by the thread that starts the operation
    GpuEvent end = GpuEvent();   // recorded when the results are there
  };
  using SharedEventPair = std::shared_ptr<const EventPair>;
  // Called before the operation is started.
  void push(SharedEventPair eventPair);
  // Returns the events of the running operation; null if it is in host memory.
  SharedEventPair pop();

  const int device;

private:
  std::mutex mutex;
  std::deque<SharedEventPair> eventPairs;
};

TransportFactory stagedTransport(TransportFactory inner, std::shared_ptr<StagingQueue> queue);

} // namespace braid
#endif // BRAID_GPU_STAGEDTRANSPORT_H
