//===- Lifelines.h - ends of connections that Gloo keeps to itself --------===//
//
// Gloo tells the operations of a connection that ends, if they are queued.  The
// one whose message is under way is forgotten, and what waits for it waits for its
// time-out.  So each connection has a receive that nothing is ever sent to: it
// stays queued, learns of the end, and a thread then wakes what waits for the rank.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_GLOO_LIFELINES_H
#define BRAID_COMM_GLOO_LIFELINES_H

#include <condition_variable>
#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace braid {

class Lifelines {
public:
  explicit Lifelines(gloo::Context &context);
  ~Lifelines();

  // Waits for the send or receive of a buffer: false when the connection to `peer`
  // has ended before.  Throws as the buffer does.
  bool wait(gloo::transport::UnboundBuffer &buffer, bool isSend, int peer, std::chrono::milliseconds most);

private:
  void watch();
  bool isCut(int peer);

  std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> receives; // by rank, none of this one
  std::mutex mutex;
  std::condition_variable changed;
  bool closing = false;
  gloo::transport::UnboundBuffer *waiting = nullptr;
  int waitingFor = 0;
  bool suspected = false; // that connection was cut an interval ago, too
  std::byte nothing{};
  std::thread watcher;
};

} // namespace braid
#endif // BRAID_COMM_GLOO_LIFELINES_H
