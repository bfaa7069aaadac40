//===- Transport.h - moves bytes between ranks ----------------------------===//
//
// A transport belongs to the communication thread of one rank: that thread creates, uses and destroys it.
// So libraries that require a single thread get one.
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

  // Executes `operation` together with the other ranks of its group. Throws Error if it is not done by
  // `deadline`, or has become impossible. `seconds` is the timeout, for the message.
  virtual void run(const Operation &operation, Clock::time_point deadline, double seconds) = 0;

  // After a failure: tells the other ranks the reason, so that they end, too, and waits a moment for them
  // to do so.
  virtual void announceFailure(const std::string &message) = 0;
};

// Called on the communication thread. Throws Error if ranks cannot be reached.
using TransportFactory = std::function<std::unique_ptr<Transport>()>;

} // namespace braid
#endif // BRAID_COMM_TRANSPORT_H
