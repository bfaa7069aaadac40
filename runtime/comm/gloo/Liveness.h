//===- Liveness.h - detects connections that have ended -------------------===//
//
// When a connection ends, Gloo fails the operations queued on it, except one whose message is in flight: a
// wait for that one lasts until the timeout. So each connection has a receive for a message that is never
// sent. It stays queued and fails when the connection ends. A thread polls it and wakes the wait for that
// rank.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_GLOO_LIVENESS_H
#define BRAID_COMM_GLOO_LIVENESS_H

#include <condition_variable>
#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace braid {

class Liveness {
public:
  explicit Liveness(gloo::Context &context);
  ~Liveness();

  // Waits for the send or receive of a buffer. Returns false if the connection to `peer` ended first.
  // Throws as the buffer does.
  bool wait(gloo::transport::UnboundBuffer &buffer, bool isSend, int peer, std::chrono::milliseconds timeout);

private:
  void watch();
  bool hasEnded(int peer);

  std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> receives; // by rank; null for this rank
  std::mutex mutex;
  std::condition_variable changed;
  bool closing = false;
  gloo::transport::UnboundBuffer *waiting = nullptr;
  int waitingFor = 0;
  bool suspected = false; // whether that connection had already ended an interval ago
  std::byte emptyMessage{};
  std::thread watcher;
};

} // namespace braid
#endif // BRAID_COMM_GLOO_LIVENESS_H
