//===- Channel.h - messages between processes -----------------------------===//
//
// The little that a library must offer to carry every collective: post sends and
// receives, and complete what was posted.  Messages from one rank to another with
// one tag arrive in order.  Used from one thread.
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

  // Memory belongs to the channel until `complete`.  Messages have a
  // few MiB at most; of 0 bytes nothing is sent.
  virtual void send(int peer, int tag, const void *data, size_t bytes) = 0;
  virtual void receive(int peer, int tag, void *data, size_t bytes) = 0;

  // Ends when all that was posted is done, with no ranks; or when that cannot be
  // any more or has not been by `deadline`, with the ranks to blame.  Throws Error
  // with a rank's message when that rank has announced a failure.
  virtual std::set<int> complete(Clock::time_point deadline) = 0;

  // Whether that rank is known to have ended.
  virtual bool hasEnded(int peer) const = 0;

  // See Transport.
  virtual void announceFailure(const std::string &message) = 0;
};

} // namespace braid
#endif // BRAID_COMM_CHANNEL_H
