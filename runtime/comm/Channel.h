//===- Channel.h - messages between processes -----------------------------===//
//
// The operations that a library must provide to carry every collective: post sends and receives, and
// complete them. Messages with the same tag from one rank to another arrive in order. Used from one thread.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_CHANNEL_H
#define BRAID_COMM_CHANNEL_H

#include "comm/Transport.h"

#include <set>

namespace braid {

class Channel {
public:
  virtual ~Channel() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // The channel owns the memory until `complete`. A message has at most a few MiB; a message of 0 bytes is
  // not sent.
  virtual void send(int peer, int tag, const void *data, size_t bytes) = 0;
  virtual void receive(int peer, int tag, void *data, size_t bytes) = 0;

  // Waits until all posted operations are done, and returns an empty set. If that becomes impossible, or is
  // not done by `deadline`, returns the ranks to blame. Throws Error with a rank's message if that rank has
  // announced a failure.
  virtual std::set<int> complete(Clock::time_point deadline) = 0;

  // Whether the rank is known to have ended.
  virtual bool hasEnded(int peer) const = 0;

  // See Transport::announceFailure.
  virtual void announceFailure(const std::string &message) = 0;
};

} // namespace braid
#endif // BRAID_COMM_CHANNEL_H
