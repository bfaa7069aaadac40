//===- Liveness.h - detects connections that have ended -------------------===//
//
// When a connection ends, Gloo fails the operations that are queued on it, but not the
// one whose message is in flight: whoever waits for that one waits until the time-out.
// So each connection has a receive that nothing is ever sent to.  It stays queued and
// fails when the connection ends; a thread polls it and wakes what waits for the rank.
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

  // Waits for the send or receive of a buffer: false when the connection to `peer`
  // ended before that.  Throws as the buffer does.
  bool wait(gloo::transport::UnboundBuffer &buffer, bool isSend, int peer, std::chrono::milliseconds most);

private:
  void watch();
  bool hasEnded(int peer);

  std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> receives; // by rank, none of this one
  std::mutex mutex;
  std::condition_variable changed;
  bool closing = false;
  gloo::transport::UnboundBuffer *waiting = nullptr;
  int waitingFor = 0;
  bool suspected = false; // that connection had ended an interval ago, too
  std::byte nothing{};
  std::thread watcher;
};

} // namespace braid
#endif // BRAID_COMM_GLOO_LIVENESS_H
