//===- StagedTransport.h - memory of devices over transports of the host --===//
//
// Turns a transport of host memory into one of a device's.  For each operation the
// communication thread waits until the device has come to its start, copies what is
// sent down into pinned memory, runs the operation there, and copies what was received
// up.  With the transport of threads, ranks can share one device: `device-threads`.
//
// Operations before the first collective of the program are words of the ranks' in the
// host's memory and pass through.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_STAGEDTRANSPORT_H
#define BRAID_CUDA_STAGEDTRANSPORT_H

#include "comm/Transport.h"
#include "cuda/Streams.h"

#include <deque>
#include <mutex>

namespace braid {

// Between the thread that starts collectives and the communication thread, which may
// end later: the events around each operation, in the order of starts.
class StagingQueue {
public:
  explicit StagingQueue(int device) : device(device) {}

  struct EventPair {
    Event begin = Event(); // recorded by the thread that starts the operation
    Event end = Event();   // recorded once the results are there
  };
  using SharedEventPair = std::shared_ptr<const EventPair>;
  // Before the operation is started.
  void push(SharedEventPair eventPair);
  // Of the operation that runs; null of one in the host's memory.
  SharedEventPair pop();

  const int device;

private:
  std::mutex mutex;
  std::deque<SharedEventPair> eventPairs;
};

TransportFactory stagedTransport(TransportFactory inner, std::shared_ptr<StagingQueue> queue);

} // namespace braid
#endif // BRAID_CUDA_STAGEDTRANSPORT_H
