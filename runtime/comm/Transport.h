//===- Transport.h - what moves bytes between ranks -----------------------===//
//
// A transport belongs to the communication thread of one rank: it is made, used
// and destroyed there, so that libraries which want one thread get one.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_TRANSPORT_H
#define BRAID_COMM_TRANSPORT_H

#include "comm/Operation.h"

#include <chrono>
#include <functional>
#include <memory>

namespace braid {

using Clock = std::chrono::steady_clock;

class Transport {
public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Executes `operation` together with the other ranks of its group.  Throws
  // Error when that has not happened by `deadline`, or cannot any more; `seconds`
  // is the time-out, for the message.
  virtual void run(const Operation &operation, Clock::time_point deadline, double seconds) = 0;

  // After a failure: tells the other ranks why, so that they end, too, and gives
  // them a moment to do so.
  virtual void announceFailure(const std::string &message) = 0;
};

// Called on the communication thread; throws Error when ranks cannot be reached.
using TransportFactory = std::function<std::unique_ptr<Transport>()>;

} // namespace braid
#endif // BRAID_COMM_TRANSPORT_H
